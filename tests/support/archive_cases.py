"""Make harmless and malicious archives in memory, and folders."""

import io
import tarfile
import zipfile


def put(folder, files):
    """Write files into a folder and return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder


def zip_of(members):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return content.getvalue()


def tar_of(members, mode="w", extra=()):
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode=mode) as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        for info in extra:
            archive.addfile(info)
    return content.getvalue()


def unpack_tar(archive, folder):
    """Unpack a trusted tar archive of plain files.

    Before version 3.11.4, Python has no filter for the members of an archive.
    """
    with tarfile.open(archive) as content:
        for member in content:
            file = folder / member.name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content.extractfile(member).read())


def tar_member(kind, name="d/evil", target="/etc/passwd"):
    info = tarfile.TarInfo(name)
    info.type = kind
    info.linkname = target
    return info
