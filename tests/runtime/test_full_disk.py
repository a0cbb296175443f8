"""A disk that takes no more ends a command or a job with a sentence; given again, it does the same as ever."""

import errno
import os
import subprocess
import sys

import numpy as np
import pytest
import torch
from kill_points import small_files
from refusals import said
from running import PROJECT

from verified.__main__ import main
from verified.benchmark.vcmr.ranked import Ranked, write_ranked
from verified.errors import disk_problem
from verified.io.hdf5 import write_features
from verified.io.jsonl import write_jsonl
from verified.nn.checkpoint import Form, save
from verified.statistics.embeddings import write_embeddings

NUMBERS = np.arange(40_000, dtype=np.float32).reshape(400, 100)
RANKED = Ranked(np.arange(400), NUMBERS[:, :40].astype(int), NUMBERS[:, :40], [str(n) for n in range(400)])
WRITERS = {
    "tensors": lambda path: save(path, Form("numbers", 1, ""), {"numbers": torch.from_numpy(NUMBERS)}, {}),
    "features": lambda path: write_features(path, {"dim": 100}, ((str(n), NUMBERS, {}) for n in range(9))),
    "many features": lambda path: write_features(path, {"dim": 100}, ((str(n), NUMBERS[:1], {}) for n in range(999))),
    "ranked lists": lambda path: write_ranked(path, {"test": RANKED}),
    "embeddings": lambda path: write_embeddings(path, [*map(str, range(400))], NUMBERS, "e", "w"),
    "rows": lambda path: write_jsonl(path, ({"number": n} for n in range(9999))),
}
JOB = """
import sys
from types import SimpleNamespace
from verified.errors import InputError
from verified.runtime.job import job

with job(SimpleNamespace(log=[sys.argv[1]])) as log:
    if len(sys.argv) > 2:
        raise InputError("this row is odd", file=sys.argv[2])
    log.info("epoch 1")
    print("not reached")
"""


def run_job(code: str, *arguments: object) -> subprocess.CompletedProcess:
    environment = os.environ | {"PYTHONPATH": str(PROJECT / "scripts")}
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize("limit", [0, 4096, 20_000, 100_000])
@pytest.mark.parametrize("name", WRITERS)
def test_what_a_full_disk_does_to_a_writer_is_known_as_such(tmp_path, capfd, name, limit):
    path = tmp_path / "file"
    path.write_text("earlier")
    with pytest.raises(Exception) as caught, small_files(limit):
        WRITERS[name](path)
    assert os.strerror(errno.EFBIG) in (disk_problem(caught.value) or ""), caught.value
    assert not capfd.readouterr().err and list(tmp_path.iterdir()) == [path] and path.read_text() == "earlier"


@pytest.mark.parametrize("number", [errno.EACCES, errno.EPERM, errno.EROFS])
def test_a_folder_that_takes_no_writes_is_an_error_with_a_remedy(number):
    problem = disk_problem(OSError(number, os.strerror(number), "results/a"))
    assert problem and problem.startswith("results/a: ") and "folder" in problem


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
@pytest.mark.parametrize("more", [(), ("rows.jsonl",)], ids=["a line of the log", "the last line of the log"])
def test_a_log_on_a_full_disk_ends_the_job_with_a_sentence(tmp_path, more):
    (tmp_path / "log").symlink_to("/dev/full")
    run = run_job(JOB, tmp_path / "log", *more)
    assert (run.returncode, run.stdout) == (1, "")
    said(run.stderr, *(more or ["No space left"]), remedy=not more)


def test_a_name_longer_than_file_systems_take_is_an_error(capsys):
    assert main(["ledger", "stats", "--ledger", "ledger" * 60]) == 2
    said(capsys.readouterr().err, ("ledger" * 20)[:100], remedy=True)
