"""What jobs read is compared with what they declare, after each run of `running.snakemake` (reads.py)."""

import os
import subprocess
import sys

import h5py
from reads import noting, undeclared

WORKFLOW = """
rule read:
    input: "given", videos="seven.videos.jsonl"
    output: "made"
    script: "read.py"
"""
SCRIPT = """
import subprocess, sys
import h5py
files = ["given", "other", "film.mp4", "results/ledger/part", "seven.videos.jsonl"]
subprocess.run([sys.executable, "-c", "open('by-child').read()"], check=True)
h5py.File("features.h5").close()
with open("scratch", "w") as file:
    file.write("own")
with open("made", "w") as file:
    file.write("".join(open(name).read() for name in [*files, "scratch"]))
"""


def test_a_file_that_a_job_reads_and_does_not_declare_is_noticed(tmp_path):
    (tmp_path / "results" / "ledger").mkdir(parents=True)
    for name in ("given", "other", "film.mp4", "by-child", "results/ledger/part"):
        (tmp_path / name).touch()
    (tmp_path / "seven.videos.jsonl").write_text('{"path": "film.mp4", "sha256": "7"}\n')
    h5py.File(tmp_path / "features.h5", "w").close()
    (tmp_path / "Snakefile").write_text(WORKFLOW)
    (tmp_path / "read.py").write_text(SCRIPT)
    (tmp_path / "notes").mkdir()
    command = [sys.executable, "-m", "snakemake", "--cores", "1", "--directory", str(tmp_path)]
    subprocess.run(command, cwd=tmp_path, check=True, env=noting(str(tmp_path / "notes"), os.environ))
    read = undeclared(tmp_path / "notes")
    assert read == {("read", str(tmp_path / name)) for name in ("other", "by-child", "features.h5")}
