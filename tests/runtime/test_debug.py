"""`verified dev debug`: a rule's script by hand, with the object that Snakemake would give it."""

import subprocess
import sys
from pathlib import Path

import pytest
from refusals import said
from running import NANO

from verified.io.jsonl import read_jsonl, write_jsonl
from verified.runtime.checksums import write_built_checksums

SHARD = "results/nano/captions/{}/shard-00{}.jsonl"


def debug(folder: Path, *arguments: str) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "verified", "dev", "debug", *arguments, "--configfile", str(NANO)]
    return subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def test_a_script_runs_with_the_rules_own_files(tmp_path):
    for number, kind in enumerate(("statics", "dynamics")):
        write_jsonl(tmp_path / SHARD.format(kind, ".corrupted"), [{"desc_id": number}])
        write_built_checksums(tmp_path / SHARD.format(kind, ".corrupted"))
    run = debug(tmp_path, "collect_corrupted", "dataset=nano", "shard=shard-00")
    assert run.returncode == 0, run.stdout
    assert read_jsonl(tmp_path / SHARD.format("corrupted", "")) == [{"desc_id": 0}, {"desc_id": 1}]
    assert (tmp_path / "logs/nano/collect_corrupted/shard-00.log").is_file()


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["collect_spoild", "shard=shard-00"], "'collect_corrupted'"),
        (["collect_corrupted", "shard=shard-00"], "dataset, shard"),
        (["collect_corrupted", "dataset=nano", "shard=shard-00"], "statics/shard-00.corrupted.jsonl"),
        (["collect_corrupted", "nano"], "WILDCARD=VALUE"),
    ],
    ids=["rule", "wildcard", "input", "form"],
)
def test_mistakes_are_named(tmp_path, arguments, named):
    run = debug(tmp_path, *arguments)
    assert run.returncode == 2, run.stdout
    said(run.stdout, named)
