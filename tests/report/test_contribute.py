"""An archive made elsewhere: its new records go in whole and are shown with their origin, or it is refused by name."""

import hashlib
import json
import re
import shutil
import tarfile
from pathlib import Path

import pytest
from archive_cases import tar_of
from command_line import run
from page_cases import PAPER, make_table, passport, small_run, step
from report_cases import every_method, ranking, write

from xmlc.core.checksums import stamped
from xmlc.core.errors import XmlcError
from xmlc.report.contribute import contribute

OUT = Path("results/reference/contributed")
NEW = Path("results/rcv1-2k/plt/000.json")
OURS = Path("results/yeast/rankings/000.json")


@pytest.fixture
def archive(tmp_path, monkeypatch):
    """Our runs, archived in the current folder; a second clone has the same and a set more, which it archives."""
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        small_run(Path())
        if name == "there":
            records = [ranking("rcv1-2k", seed=seed, p1=0.9) for seed in (0, 1)]
            paths = write(NEW.parent, [record | {"passport": passport(), "step": step("rank")} for record in records])
            make_table(Path(), "table1", [*paths, *Path(OURS.parent).glob("*.json")])
        assert run("archive", "--out", tmp_path / f"{name}.tar.xz") == 0
    monkeypatch.chdir(tmp_path / "here")
    Path("logs").rename("no-logs")
    return tmp_path / "there.tar.xz"


def members(archive):
    with tarfile.open(archive) as content:
        return {member.name: content.extractfile(member).read() for member in content}


def take(archive, name="alice"):
    return contribute(archive, name, archive.with_name("here.tar.xz"))


def refusal(archive):
    """Return the message of the refusal, after which everything is as before."""
    before = sorted(Path().rglob("*"))
    with pytest.raises(XmlcError, match=r"there\.tar\.xz: .*Nothing was taken in") as error:
        take(archive)
    assert sorted(Path().rglob("*")) == before
    return str(error.value)


def test_new_records_go_in_and_the_page_shows_their_origin(archive, capsys, tmp_path):
    (OUT.parent / "five-seeds").mkdir()
    shutil.copy(tmp_path / "here.tar.xz", OUT.parent / "five-seeds/records.tar.xz")
    assert run("contribute", archive, "--as", "alice") == 0
    said = capsys.readouterr().out
    assert "results that are here too are the same to the last bit" in said
    assert f"taken in: {OUT}/alice/{NEW}" in said
    assert "2 new records; " in said
    assert sorted(file.name for file in OUT.rglob("*") if file.is_file()) == [
        "000.json", "001.json", "checksums.json", "manifest.json", "table1.made-of.json"
    ]  # fmt: skip
    pages = []
    for more in ([], ["--contributed"]):
        assert run("report", *more, "--out", "page.html") == 0
        pages.append(Path("page.html").read_text())
    plain, page = pages
    assert "contributed" not in plain
    assert "rcv1-2k" not in plain
    rows = page[page.index("<article") :].split("<tr>")
    assert [row for row in rows if ">90.00" in row]
    assert all("rcv1-2k" in row for row in rows if "contributed by alice" in row or ">90.00" in row)
    assert all("§" in row for row in rows if ">90.00" in row)
    assert '"contributed by: alice"' in page
    assert f'"record: {NEW}"' in page, "under the name that it has where it was made"
    with pytest.raises(XmlcError, match=r"found \d+ results that are here too and 0 new records, expected both"):
        take(archive, "bob")
    with pytest.raises(XmlcError, match="alice: expected a new folder"):
        take(archive)


def test_what_another_contributed_is_compared_too(archive):
    take(archive)
    record = OUT / "alice" / NEW
    content = json.loads(record.read_text())
    content["metrics"]["p@1"] = 0.95
    record.write_text(json.dumps(stamped(content)))
    with pytest.raises(XmlcError, match=rf"{NEW}: p@1: found 90\.0, expected 95\.0; .* same to the last bit"):
        take(archive, "bob")


def edited(name, text, new):
    def edit(files):
        files[name] = files[name].replace(text, new)

    return edit


def again(name, change):
    """Edit a record as one who knows would: its own checksum and the manifest agree with it."""

    def edit(files):
        content = json.loads(files[name])
        change(content)
        files[name] = json.dumps(stamped(content)).encode()
        manifest = json.loads(files["manifest.json"])
        manifest["files"][name] = hashlib.sha256(files[name]).hexdigest()
        files["manifest.json"] = json.dumps(manifest).encode()

    return edit


TABLE1 = f"results/tables/{PAPER}/table1.made-of.json"
DIGEST = "[0-9a-f]{64}"


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (edited(str(NEW), b"0.9", b"0.8"), f"{NEW}: found {DIGEST}, expected {DIGEST}; make the archive again"),
        (lambda files: files.pop(str(NEW)), f"{NEW}: found nothing, expected {DIGEST}; make the archive again"),
        (lambda files: files.update(more=b""), f"more: found {DIGEST}, expected nothing; make the archive again"),
        (lambda files: files.pop("manifest.json"), "manifest.json: found none that can be read"),
        (
            edited("manifest.json", b'"code": "', b'"code": "0'),
            r"xmlc: found .*\(0.*check out its commit",
        ),
        (
            edited("manifest.json", b'"config": {', b'"config": {"config/papers/a.yaml": "0",'),
            r"config/papers/a\.yaml: found 0, expected nothing; check out its commit",
        ),
        (
            again(TABLE1, lambda content: content.update(records=["/etc/passwd"])),
            "/etc/passwd: found nothing, expected a member",
        ),
        (
            again(TABLE1, lambda content: content.update(table="../../../table1")),
            r"results/tables/plt2016/\.\./.*: found nothing, expected a member",
        ),
        (
            again(str(OURS), lambda content: content["metrics"].update({"p@1": 0.5})),
            rf"{OURS}: p@1: found 50\.0, expected 75\.0; a result of both must be the same to the last bit",
        ),
        (
            again(str(OURS), lambda content: content["hyperparameters"].update(arity=2)),
            rf'{OURS}: hyperparameters: found {{"arity": 2}}, expected {{"arity": 16}}',
        ),
        (
            again(str(NEW), lambda content: content["metrics"].update({"p@1": 1.5})),
            rf"{NEW}: .*p@1: found 1\.5, expected a share between 0 and 1",
        ),
    ],
)
def test_a_changed_archive_is_refused_by_name(archive, edit, message):
    files = members(archive)
    edit(files)
    archive.write_bytes(tar_of(files, "w:xz"))
    assert re.search(message, refusal(archive))


def test_an_archive_that_leaves_its_folder_is_refused(archive):
    archive.write_bytes(tar_of(members(archive) | {"../out.json": b"{}"}, "w:xz"))
    assert "'../out.json'" in refusal(archive)


def test_an_archive_that_is_cut_off_or_has_nothing_in_common_is_refused(archive, monkeypatch, tmp_path):
    whole = archive.read_bytes()
    archive.write_bytes(whole[: len(whole) // 2])
    assert "cut off" in refusal(archive)
    monkeypatch.chdir(tmp_path / "there")
    shutil.rmtree("results/tables")
    records = write(Path("results/scene"), every_method("scene"))
    make_table(Path(), "table2", records)
    assert run("archive", "--out", archive) == 0
    monkeypatch.chdir(tmp_path / "here")
    assert "found 0 results that are here too and 5 new records" in refusal(archive)
