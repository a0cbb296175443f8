"""Marks that a killed run left in Snakemake's folder go; those of a living run, or of another machine, stay."""

import fcntl
import os
import platform
from pathlib import Path

import pytest

from verified.errors import InputError
from verified.runtime import run_lock
from verified.runtime.run_lock import enter, working


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """Snakemake's folder after a run on this machine was killed."""
    monkeypatch.setattr(run_lock, "_held", [])
    folder = tmp_path / "project" / ".snakemake"
    (folder / "locks").mkdir(parents=True)
    (folder / "locks" / "0.output.lock").write_text("results/tables\n")
    (folder / "run.lock").write_text(platform.node())
    yield folder
    for held in run_lock._held:
        held.close()


def test_marks_of_a_dead_run_go(folder):
    assert "killed" in enter(folder)
    assert not (folder / "locks").exists()


def test_a_first_run_says_nothing_and_notes_its_machine(tmp_path, monkeypatch):
    monkeypatch.setattr(run_lock, "_held", [])
    assert enter(tmp_path / ".snakemake") is None
    assert (tmp_path / ".snakemake" / "run.lock").read_text() == platform.node()
    run_lock._held[0].close()


def test_marks_of_a_living_run_stay(folder):
    with (folder / "run.lock").open() as other:
        fcntl.flock(other, fcntl.LOCK_SH)
        assert enter(folder) is None
    assert (folder / "locks" / "0.output.lock").exists()


def test_marks_of_another_machine_stay(folder):
    (folder / "run.lock").write_text("elsewhere")
    assert enter(folder) is None
    assert (folder / "locks" / "0.output.lock").exists()


def test_jobs_that_are_still_at_work_hold_the_next_run_back(folder):
    with working(folder), pytest.raises(InputError, match="still at work"):
        enter(folder, patience=0.3)
    assert (folder / "locks").exists()
    run_lock._held.pop().close()  # as the end of that process does
    assert enter(folder, patience=0.3)


def test_a_file_system_without_locks_leaves_everything_to_snakemake(folder, monkeypatch):
    def unsupported(*_):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(fcntl, "flock", unsupported)
    assert enter(folder) is None
    with working(folder):
        pass
    assert (folder / "locks").exists()


QUEUE = """#!/bin/sh
case $0 in
*squeue) cat {queue} ;;
*scancel) echo "$@" >> {calls}
  case "$1" in --full) ;; *) : > {queue} ;; esac ;;
esac
"""
NAME = "605057f2-53c4-4bdf-bff7-67d133752ee8"


def mock_slurm(folder: Path, monkeypatch, script: str) -> None:
    """Put mocks of SLURM's programs on the path, and say that a run in `folder` has used it."""
    programs = folder.parent.parent / "programs"
    programs.mkdir()
    for name in ("squeue", "scancel"):
        (programs / name).write_text(script)
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    (folder / "slurm_logs").mkdir()


def test_jobs_of_the_lost_run_are_cancelled_in_the_queue_and_no_others(folder, tmp_path, monkeypatch):
    """Jobs 7 and 8 were the lost run's; 9 is one of a run elsewhere, 10 was submitted by hand here."""
    queue, calls = tmp_path / "queue", tmp_path / "calls"
    here = folder.parent
    queue.write_text(f"7 {NAME} {here}\n8 paper_{NAME} {here}\n9 {NAME} /elsewhere\n10 {NAME[:8]} {here}\n")
    mock_slurm(folder, monkeypatch, QUEUE.format(queue=queue, calls=calls))
    assert enter(folder)
    assert calls.read_text().splitlines() == ["--full --signal KILL 7 8", "7 8"]


def test_a_queue_that_does_not_answer_holds_the_next_run_back(folder, monkeypatch):
    mock_slurm(folder, monkeypatch, "#!/bin/sh\necho no controller >&2\nexit 1\n")
    with pytest.raises(InputError, match="no controller"):
        enter(folder)
    assert (folder / "locks").exists()
