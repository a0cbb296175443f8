"""The ledger of a run in a bucket: jobs without a common disk lose no answer and count nothing twice."""

import os
import shutil
import time
from pathlib import Path

import pytest
from ledger_rows import put_all, row_of

from verified.lmm import ledger_file, ledger_parts
from verified.lmm.ledger import Ledger
from verified.lmm.ledger_bucket import SharedLedger

NAME = Path("results/ledger.sqlite")


class Folder:
    """A bucket that is a folder of this disk, as `runtime.bucket.Bucket`."""

    def __init__(self, folder: Path, here: Path):
        self.folder, self.here = folder, here

    def entries(self, below):
        files = [path for path in self.folder.rglob("*") if path.is_file()]
        found = {path.relative_to(self.folder).as_posix(): path.stat() for path in files}
        return {path: (facts.st_size, facts.st_mtime) for path, facts in found.items() if path.startswith(below)}

    def copy(self, start, end):
        end.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(start, end)

    def fetch(self, path):
        self.copy(self.folder / path, self.here / path)
        os.utime(self.here / path, (time := (self.folder / path).stat().st_mtime, time))
        return True

    def store(self, path):
        self.copy(self.here / path, self.folder / path)

    def remove(self, path):
        (self.folder / path).unlink()


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """Makes machines that share nothing but the bucket, by their names; parts are kept as in a run."""
    monkeypatch.setenv(ledger_parts.KEEP, "1")

    def made(name: str) -> SharedLedger:
        (tmp_path / name).mkdir(exist_ok=True)
        ledger = SharedLedger(Folder(tmp_path / "bucket", tmp_path / name), NAME)
        ledger.begin()
        return ledger

    return made


def ask(shared: SharedLedger, *numbers: int) -> int:
    """Ask what the ledger of this machine does not hold; how many calls these were."""
    with Ledger(shared.path) as ledger:
        return put_all(ledger, [row_of(n) for n in numbers if ledger.get(row_of(n)["key"]) is None])


def finish(shared: SharedLedger, monkeypatch) -> None:
    with monkeypatch.context() as patch:
        patch.delenv(ledger_parts.KEEP)
        shared.end()


def in_file(shared: SharedLedger) -> tuple[int, int]:
    """Calls and attempts in the ledger's file alone."""
    with Ledger(shared.path, read_only=True) as ledger:
        return ledger.connection.execute("SELECT count(*), sum(attempts) FROM main.calls").fetchone()


def test_what_one_pod_has_asked_no_other_asks(machine, monkeypatch):
    user, first, second = machine("user"), machine("first"), machine("second")
    assert ask(first, 1, 2, 3) == 3
    first.exchange()
    second.exchange()
    assert ask(second, 2, 3, 4) == 1
    second.exchange()
    finish(user, monkeypatch)
    assert in_file(user) == (4, 4)
    assert [*user.bucket.entries("")] == [NAME.as_posix()], "parts that the file holds are gone"
    assert ask(machine("third"), 1, 2, 3, 4) == 0


def test_parts_are_shared_while_a_job_writes(machine):
    first, second = machine("first"), machine("second")
    with Ledger(first.path) as ledger:
        ledger.put(row_of(1))
        first.exchange()
        second.exchange()
        assert ask(second, 1) == 0
        ledger.put(row_of(2))
        first.exchange()
        second.exchange()
        assert ask(second, 2) == 0


def test_a_part_that_is_still_written_stays_where_others_find_it(machine, monkeypatch):
    """The run of a user ends, and a pod that it lost goes on."""
    user, pod = machine("user"), machine("pod")
    monkeypatch.setattr(ledger_parts, "has_ended", lambda name: False)
    with Ledger(pod.path) as ledger:
        ledger.put(row_of(1))
        pod.exchange()
        finish(user, monkeypatch)
        assert in_file(user) == (1, 1) and len(user.bucket.entries("results/ledger.sqlite.parts/")) == 1
        ledger.put(row_of(2))
    pod.exchange()
    later = machine("user")
    finish(later, monkeypatch)
    assert in_file(later) == (2, 2) and [*later.bucket.entries("")] == [NAME.as_posix()]


def test_killed_between_its_file_and_the_parts_nothing_counts_twice(machine, monkeypatch):
    user, pod = machine("user"), machine("pod")
    ask(pod, 1, 2)
    pod.exchange()
    with monkeypatch.context() as patch:
        patch.setattr(user.bucket, "remove", lambda path: (_ for _ in ()).throw(OSError("killed")))
        with pytest.raises(OSError, match="killed"):
            finish(user, monkeypatch)
    again = machine("user")
    finish(again, monkeypatch)
    assert in_file(again) == (2, 2) and [*again.bucket.entries("")] == [NAME.as_posix()]


def test_the_later_file_of_two_is_taken(machine, monkeypatch):
    """A command of the user changed the ledger between two runs; the next run keeps it so, and pods see it."""
    user = machine("user")
    ask(user, 1, 2)
    finish(user, monkeypatch)
    time.sleep(0.05)
    with Ledger(user.path) as ledger:
        assert ledger.forget("ok") == 2
    machine("user")
    assert ask(machine("pod"), 1, 2) == 2


def test_without_a_bucket_parts_are_folded_as_ever(machine, monkeypatch):
    shared = machine("user")
    monkeypatch.delenv(ledger_parts.KEEP)
    ask(shared, 1)
    assert in_file(shared) == (1, 1) and not ledger_parts.sizes(shared.path)
    assert ledger_file.is_made(shared.path)
