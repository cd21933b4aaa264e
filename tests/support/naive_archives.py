"""Decompression and tar written anew for the fuzzers, of a whole file at once; see naive_formats.py."""

import bz2
import lzma
import zlib

from naive_formats import Refused, demand

STREAMS = {
    b"\x1f\x8b": lambda: zlib.decompressobj(31),
    b"BZh": bz2.BZ2Decompressor,
    b"\xfd7zXZ\0": lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ),
}


def plain(content):
    """What a file holds, decompressed if it is compressed."""
    magic = next((magic for magic in STREAMS if content.startswith(magic)), None)
    if magic is None:
        return content
    found = b""
    while content:
        stream = STREAMS[magic]()
        try:
            found += stream.decompress(content)
        except (OSError, lzma.LZMAError, zlib.error):
            demand(False)
        demand(stream.eof)
        rest = stream.unused_data
        content = rest.lstrip(b"\0")
        padding = len(rest) - len(content)
        demand(padding % 4 == 0 if magic == b"\xfd7zXZ\0" else not (padding and content))
    return found


class NoOpinion(Exception):
    """A feature of tar that this reader does not know, which a mutation has put there."""


def octal(field):
    if field[:1] >= b"\x80":
        raise NoOpinion
    text = field.partition(b"\0")[0].strip()
    try:
        return int(text or b"0", 8)
    except ValueError:
        raise NoOpinion from None


def tar_files(content):
    """Files of a tar by their names; folders have None."""
    found, position = [], 0
    while len(block := content[position : position + 512]) == 512 and block.strip(b"\0"):
        checksum = sum(block[:148]) + 8 * 32 + sum(block[156:])
        try:
            said = octal(block[148:156])
        except NoOpinion:
            said = -1
        if said != checksum:
            if not found:
                raise Refused
            break  # tarfile takes this for the end
        if block[156:157] not in (b"0", b"\0", b"5"):
            raise NoOpinion
        size = octal(block[124:136])
        name = block[:100].partition(b"\0")[0]
        if block[257:262] == b"ustar" and (prefix := block[345:500].partition(b"\0")[0]):
            name = prefix + b"/" + name
        is_folder = block[156:157] == b"5" or (block[156:157] == b"\0" and name.endswith(b"/"))
        data = content[position + 512 : position + 512 + size]
        found.append((name.decode("utf-8", "surrogateescape").rstrip("/"), None if is_folder else data, size))
        position += 512 + (0 if is_folder else -(-size // 512) * 512)
    return found
