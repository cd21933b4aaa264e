"""One process fetches an address, others wait; what killed processes leave is resumed or removed."""

import hashlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from file_server import serve

from xmlc.data.fetching.http import fetch_http
from xmlc.data.fetching.limits import Limits
from xmlc.data.fetching.parts import Part, Version, fetch_once, sweep_parts
from xmlc.errors import XmlcError
from xmlc.files import FORGOTTEN, sweep
from xmlc.processes import this_process
from xmlc.runtime.claims import claimed

CONTENT = bytes(range(256)) * 400
FETCH = """
import sys
from pathlib import Path
from xmlc.data.fetching import http
from xmlc.data.fetching.http import fetch_http
http.FIRST_PAUSE = 0.001
folder, own, *urls = sys.argv[1:]
for number, url in enumerate(urls):
    target = Path(folder, own, url.rpartition("/")[2])
    target.parent.mkdir(exist_ok=True)
    fetch_http(url, target, Path(folder, "partial"))
"""
ENDED = this_process()._replace(pid=2**22 + 1, started=7)


def fetching(folder, own, *urls):
    """Start a process that fetches some addresses one after the other."""
    command = [sys.executable, "-c", FETCH, str(folder), own, *urls]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


def until(condition):
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def left(folder):
    return sorted(file.name for file in (folder / "partial").iterdir())


def test_the_second_of_two_waits_says_so_and_uses_what_the_first_got(tmp_path):
    with serve() as server:
        server.files["/f"], server.drip = CONTENT, (10000, 0.15)
        first = fetching(tmp_path, "one", server.url + "/f")
        until(lambda: server.requests)
        others = [fetching(tmp_path, name, server.url + "/f") for name in ("two", "three")]
        said = [process.communicate(timeout=20)[1] for process in (first, *others)]
        assert len(server.requests) == 1
    assert [process.returncode for process in (first, *others)] == [0, 0, 0]
    for text in said[1:]:
        assert text == f"xmlc: waiting for process {first.pid} on {os.uname().nodename}, which fetches {server.url}/f\n"
    assert {(tmp_path / name / "f").read_bytes() for name in ("one", "two", "three")} == {CONTENT}
    assert left(tmp_path) == []


def test_of_88_fetches_by_eight_processes_none_is_corrupt(tmp_path):
    with serve() as server:
        names = [f"f{number}" for number in range(11)]
        for number, name in enumerate(names):
            server.files[f"/{name}"] = bytes([number]) * 30000
            server.cuts[f"/{name}"] = [1000 * number]
            server.headers[f"/{name}"] = {"ETag": '"one"'} if number % 2 else {}
        server.drip = 10000, 0.01
        urls = [f"{server.url}/{name}" for name in names]
        running = [fetching(tmp_path, str(k), *urls) for k in range(8)]
        for process in running:
            _, said = process.communicate(timeout=25)
            assert process.returncode == 0, said
    files = [file for k in range(8) for file in sorted((tmp_path / str(k)).iterdir())]
    assert len(files) == 88
    wrong = [file for file in files if file.read_bytes() != bytes([int(file.name[1:])]) * 30000]
    assert wrong == []
    assert left(tmp_path) == []


@pytest.mark.parametrize("headers", [{"ETag": '"one"'}, {}])
def test_a_killed_download_goes_on_if_the_file_has_a_version_and_else_begins_anew(tmp_path, headers):
    with serve() as server:
        server.files["/f"], server.headers["/f"], server.drip = CONTENT, headers, (10000, 0.1)
        killed = fetching(tmp_path, "one", server.url + "/f")
        until(lambda: any(file.stat().st_size > 20000 for file in tmp_path.glob("partial/*.part")))
        os.kill(killed.pid, signal.SIGKILL)
        killed.communicate()
        sweep(tmp_path)
        assert len(left(tmp_path)) == 1 + len(headers), "the workflow's sweep leaves it to those who know"
        server.drip = 1 << 20, 0
        fetch_http(server.url + "/f", tmp_path / "got", tmp_path / "partial")
        first, second = (request.get("Range") for _, request in server.requests)
    assert (tmp_path / "got").read_bytes() == CONTENT
    assert first is None
    assert bool(second) == bool(headers)
    assert left(tmp_path) == []


def part_of(folder, process, source="url", version=None, size=10):
    file = folder / f"{hashlib.sha256(source.encode()).hexdigest()[:32]}+{process}.part"
    Part(file).begin(version and Version(version, None))
    file.write_bytes(b"x" * size)
    return Part(file)


def test_a_process_takes_over_the_longest_part_of_one_that_has_ended(tmp_path):
    older = ENDED._replace(pid=ENDED.pid + 1)
    for process, version, size in ((ENDED, '"one"', 10), (older, '"two"', 20), (ENDED._replace(started=8), None, 30)):
        part_of(tmp_path, process, "elsewhere", version, size)
    mine = part_of(tmp_path, ENDED, "url", '"three"', 5)
    part = Part.of(tmp_path, "elsewhere")
    assert (part.version, part.size) == (Version('"two"', None), 20)
    assert sorted(file.name for file in tmp_path.iterdir() if file not in (part.file, part.version_file)) == sorted(
        [mine.file.name, mine.version_file.name]
    )


def test_what_ended_processes_left_is_swept_but_for_what_can_be_resumed(tmp_path):
    running = part_of(tmp_path, this_process())
    kept = part_of(tmp_path, ENDED, "kept", '"one"')
    part_of(tmp_path, ENDED, "gone")
    forgotten = part_of(tmp_path, ENDED, "forgotten", '"one"')
    os.utime(forgotten.file, (0, time.time() - FORGOTTEN - 9))
    (tmp_path / f"{'0' * 32}.whole").write_bytes(b"for nobody")
    lone = part_of(tmp_path, ENDED, "lone", '"one"')
    lone.file.unlink()
    sweep_parts(tmp_path)
    assert set(tmp_path.iterdir()) == {running.file, kept.file, kept.version_file}
    sweep_parts(tmp_path / "none")


def test_a_process_that_never_ends_is_not_waited_for_without_end(tmp_path, capsys):
    def fetch(part):
        raise AssertionError("another process has it")

    (tmp_path / "partial").mkdir()
    key = Part.of(tmp_path / "partial", "url").file.name.partition("+")[0]
    with (
        claimed(tmp_path / "partial" / key, "url"),
        pytest.raises(
            XmlcError, match=rf"process {os.getpid()} on .* for more than .* hours; stop it, or delete .*claim"
        ),
    ):
        fetch_once("url", tmp_path / "got", tmp_path / "partial", Limits(hours=0.1 / 3600), fetch)
    assert f"waiting for process {os.getpid()}" in capsys.readouterr().err
    assert left(tmp_path) == []


def test_a_waiting_process_fetches_itself_where_the_first_fails(tmp_path):
    with serve() as server:
        server.files["/f"], server.drip, server.cuts["/f"] = CONTENT, (10000, 0.1), [50000] * 4
        first = fetching(tmp_path, "one", server.url + "/f")
        until(lambda: server.requests)
        second = fetching(tmp_path, "two", server.url + "/f")
        until(lambda: list(tmp_path.glob("partial/*.waits*")))
        os.kill(first.pid, signal.SIGKILL)
        server.cuts.clear()
        assert second.communicate(timeout=20)[1].startswith("xmlc: waiting for process")
        first.communicate()
    assert Path(tmp_path, "two/f").read_bytes() == CONTENT
    assert left(tmp_path) == []
