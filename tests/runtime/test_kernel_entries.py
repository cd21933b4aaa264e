"""Compiled kernels on disk: none is lost, none is another's, and a damaged one is compiled anew."""

import json
import os
import subprocess
import sys

import pytest
import shared_kernels
from repository import ROOT

from xmlc.processes import this_process
from xmlc.runtime import kernel_entries
from xmlc.runtime.claims import claimed, claims
from xmlc.runtime.kernel_entries import SUFFIX, Entries

PROCESSORS = {"this": {}, "sse2": {"NUMBA_CPU_NAME": "x86-64", "NUMBA_CPU_FEATURES": "+sse,+sse2"}}
HERE, OTHER = (("x86_64-linux", "fast", "+avx"), "code"), (("x86_64-linux", "slow", ""), "code")


def key(processor, types="(float32,)"):
    (magic, code) = processor
    return types, magic, (code, "")


@pytest.fixture
def entries(tmp_path):
    return Entries(str(tmp_path / "kernels/room"), "file.function-1.py311", b"source")


def files(tmp_path):
    return sorted(file for file in tmp_path.rglob("*") if file.is_file())


def test_an_entry_is_found_by_all_that_it_is_for(entries, tmp_path):
    keys = [key(HERE), key(OTHER), key(HERE, "(float64,)"), key((HERE[0], "other code"))]
    for number, one in enumerate(keys):
        assert entries.load(one) is None
        entries.save(one, ("code", number))
    assert [entries.load(one) for one in keys] == [("code", number) for number in range(4)]
    assert len(files(tmp_path)) == 4, "no claim is left"
    edited = Entries(str(tmp_path / "kernels/room"), "file.function-1.py311", b"edited")
    assert edited.load(keys[0]) is None
    edited.save(keys[0], "edited")
    assert entries.load(keys[0]) == ("code", 0)
    entries.flush()
    assert files(tmp_path) == []


@pytest.mark.parametrize("damage", [lambda whole: whole[:0], lambda whole: whole[:31], lambda whole: whole[:-1], None])
def test_a_damaged_entry_is_compiled_anew(entries, tmp_path, capsys, damage):
    entries.save(key(HERE), "code")
    (file,) = files(tmp_path)
    whole = file.read_bytes()
    for changed in [damage(whole)] if damage else [flipped(whole, i) for i in range(0, len(whole), 7)]:
        kernel_entries._told.clear()
        file.write_bytes(changed)
        assert entries.load(key(HERE)) is None
        assert f"{file}: damaged, compiled anew" in capsys.readouterr().err
        entries.save(key(HERE), "code")
        assert entries.load(key(HERE)) == "code"
    assert files(tmp_path) == [file]


def flipped(whole, position):
    return whole[:position] + bytes([whole[position] ^ 1]) + whole[position + 1 :]


def test_an_entry_under_the_name_of_another_is_not_taken_for_it(entries, tmp_path):
    entries.save(key(HERE), "code for here")
    (here,) = files(tmp_path)
    entries.save(key(OTHER), "code for there")
    (other,) = set(files(tmp_path)) - {here}
    here.replace(other)
    assert entries.load(key(OTHER)) is None


def test_a_kernel_that_cannot_be_kept_is_no_error(tmp_path):
    (tmp_path / "file").touch()
    entries = Entries(str(tmp_path / "file/room"), "function", b"")
    assert entries.load(key(HERE)) is None
    entries.save(key(HERE), "code")


def test_what_another_process_compiles_is_waited_for_but_not_for_ever(entries, tmp_path, capsys, monkeypatch):
    kernel_entries._told.clear()
    file = entries._file(key(HERE))
    file.parent.mkdir(parents=True)
    elsewhere = this_process()._replace(host="node7", place="00000000", pid=4242)
    claim = file.with_name(f"{file.name}+{elsewhere}+1.claim")
    claim.touch()
    monkeypatch.setattr(kernel_entries, "PATIENCE", 0.5)
    assert entries.load(key(HERE)) is None
    assert capsys.readouterr().err == "xmlc: waiting for kernels that process 4242 on node7 compiles\n"
    monkeypatch.setattr(kernel_entries, "PATIENCE", 60)
    assert entries.load(key(HERE)) is None, "nor is it waited for again"
    kernel_entries._given_up.clear()

    def compiled_elsewhere():
        Entries.save(entries, key(HERE), "code")

    monkeypatch.setattr(kernel_entries, "pause", compiled_elsewhere)
    assert entries.load(key(HERE)) == "code"


def test_claims_are_given_back_with_those_of_kernels_that_could_not_be_kept(entries):
    outer, inner = key(HERE), key(HERE, "(inner,)")
    assert entries.load(outer) is None
    assert entries.load(inner) is None
    assert entries.load(inner) is None, "its own claim is nothing to wait for"
    assert len(claims(entries._file(outer))) == len(claims(entries._file(inner))) == 1
    entries.save(outer, "code")
    assert claims(entries._file(outer)) == claims(entries._file(inner)) == []
    with claimed(entries._file(inner), "another", patience=0):
        pass


@pytest.mark.slow
def test_twenty_starts_on_two_processors_share_a_folder(tmp_path):
    """Half of them wait for no other one, so that they compile the same kernels at the same time."""
    (tmp_path / "kernels_of_a_test.py").write_text(shared_kernels.SOURCE)
    alone = {name: result(start(tmp_path, name, name, "slow")) for name in PROCESSORS}
    assert alone["this"]["results"] != alone["sse2"]["results"], "code of the one cannot pass for the other's"
    running = [(name, start(tmp_path, name, "shared", how)) for how in ("slow", "impatient") * 5 for name in PROCESSORS]
    for name, process in running:
        assert result(process)["results"] == alone[name]["results"]
    assert len(list((tmp_path / "shared").rglob(f"*{SUFFIX}"))) == len(files(tmp_path / "shared")) == 2 * 8
    for name in PROCESSORS:
        assert result(start(tmp_path, name, "shared", "slow")) == {"compiled": 0, "results": alone[name]["results"]}


def start(folder, processor, cache, how):
    settings = {"NUMBA_CACHE_DIR": str(folder / cache), "NUMBA_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, str(ROOT / "tests/support/shared_kernels.py"), str(folder), how],
        env=os.environ | settings | PROCESSORS[processor],
        stdout=subprocess.PIPE,
        text=True,
    )


def result(process):
    return json.loads(process.communicate()[0])
