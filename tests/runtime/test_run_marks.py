"""Runs in one folder at the same time: one that ends removes its own marks, and one that would write the same waits."""

import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from running import PROJECT
from snakemake.exceptions import LockException
from snakemake.persistence.file import FilePersistence

from verified.runtime.run_marks import keep_own_marks

SNAKEFILE = f"""
import sys
from pathlib import Path
sys.path.insert(0, {str(PROJECT / "scripts")!r})
from verified.runtime.run_lock import enter
enter(Path(".snakemake"))
from verified.runtime.run_marks import keep_own_marks
keep_own_marks()

rule one:
    output: "{{name}}.txt"
    shell: "touch {{output}}"
"""


@pytest.fixture(autouse=True)
def marks_kept(monkeypatch):
    """As in a run; the class is Snakemake's own again after the test."""
    for name in ("lock", "_write_locks", "_delete_locks"):
        monkeypatch.setattr(FilePersistence, name, getattr(FilePersistence, name))
    keep_own_marks()


class Run(FilePersistence):
    """The marks of a run in `folder` that writes `outputs`; not a real one: it has no jobs."""

    def __init__(self, folder: Path, *outputs: str):
        self._lockdir, self._lockfile = str(folder / "locks"), {}
        (folder / "locks").mkdir(parents=True, exist_ok=True)
        self.dag, self.outputs = SimpleNamespace(), outputs

    def all_inputfiles(self):
        return ["shared.csv"]

    def all_outputfiles(self):
        return list(self.outputs)


def test_the_end_of_a_run_leaves_the_marks_of_another(tmp_path):
    first, second, starting = Run(tmp_path, "a"), Run(tmp_path, "b"), Run(tmp_path, "c")
    with second.lock():
        with first.lock():
            pass
        with pytest.raises(LockException), Run(tmp_path, "b").lock():
            pass
        with starting.lock():  # it had made its folder before the first one ended
            pass
    with Run(tmp_path, "b").lock():
        pass
    assert not list((tmp_path / "locks").iterdir())


def test_unlock_removes_all_marks(tmp_path):
    lost = Run(tmp_path, "a")
    lost._write_locks("output", ["a"])
    with pytest.raises(LockException), Run(tmp_path, "a").lock():
        pass
    Run(tmp_path).cleanup_locks()
    with Run(tmp_path, "a").lock():
        pass


@pytest.mark.night
def test_fifty_runs_that_begin_and_end_at_the_same_time(tmp_path):
    """Three at a time, one begun when another ends."""
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    command = [sys.executable, "-m", "snakemake", "--cores", "1", "--quiet", "--directory", str(tmp_path)]
    begun, running = 0, []
    while begun < 50 or running:
        for run in [run for run in running if run.poll() is not None]:
            running.remove(run)
            assert run.returncode == 0, run.stdout.read()
        if begun < 50 and len(running) < 3:
            started = [*command, "--snakefile", str(tmp_path / "Snakefile"), f"file-{begun}.txt"]
            running.append(subprocess.Popen(started, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True))
            begun += 1
        time.sleep(0.01)
    assert len(list(tmp_path.glob("file-*.txt"))) == 50
    assert not list((tmp_path / ".snakemake" / "locks").iterdir())
