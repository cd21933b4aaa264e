"""A disk that is full, or read-only: a sentence, nothing half-done, and the same command finishes when it is mended."""

import shutil

import pytest
from mounts import SmallDisk
from small_run import STEPS, SmallRun

pytestmark = [pytest.mark.slow, pytest.mark.needs("disk")]
PAGE = 4096
#: How much room a step finds, in pages: each has written something when there is no more.
PAGES = {"download": 2, "prepare": 5, "train": 3, "estimate": 4, "table": 1}


class RunOnSmallDisk(SmallRun):
    """A small run that writes what it makes to a disk of its own."""

    def __init__(self, folder, disk):
        super().__init__(folder)
        self.disk, self.folder = disk, disk.seen(folder)
        for name in ("results", "resources"):
            place = self.folder / name
            shutil.move(place, self.folder / "disk") if place.exists() else (self.folder / "disk" / name).mkdir()
            place.symlink_to(f"disk/{name}")

    def command(self, *arguments):
        return self.disk.inside(*super().command(*arguments), cwd=self.folder)

    def check_refusal(self, sentence, first):
        """Run, and hold that a sentence says why it ends, that nothing has a final name, and that nothing is lost."""
        before = self.ended()
        done = self.run(*self.words)
        said = done.stdout + done.stderr
        assert done.returncode != 0
        assert sentence in said
        assert "Traceback" not in said
        steps = list(STEPS)
        names = [name for step in steps[steps.index(first) :] for name in STEPS[step]]
        assert [name for name in names if (self.folder / name).exists()] == []
        assert self.ended() == before

    def unmake(self, first="download"):
        super().unmake(first)
        (self.folder / "disk/resources").mkdir(exist_ok=True)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("project")
    (folder / "disk").mkdir()
    with SmallDisk(folder / "disk", 8) as disk:
        run = RunOnSmallDisk(folder, disk)
        run.finish()
        yield run, run.outcome()


@pytest.mark.parametrize("step", PAGES)
def test_a_step_that_finds_the_disk_full_is_run_again_by_the_same_command(finished, step):
    run, expected = finished
    run.unmake(step)
    run.disk.fill(left=PAGES[step] * PAGE)
    try:
        run.check_refusal("Free space there", step)
    finally:
        run.disk.make_space()
    run.finish()
    assert run.outcome() == expected


def test_steps_that_may_not_write_are_run_by_the_same_command_once_they_may(finished):
    run, expected = finished
    for step in ("table", "download"):
        run.unmake(step)
        run.disk.set_writable(False)
        try:
            run.check_refusal("Read-only file system", step)
        finally:
            run.disk.set_writable(True)
    run.finish()
    assert run.outcome() == expected
