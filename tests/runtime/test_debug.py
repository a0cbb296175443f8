"""`verified dev debug`: a rule's script by hand, with the object that Snakemake would give it."""

import subprocess
import sys
from pathlib import Path

import pytest
from refusals import said
from running import NANO, called

from verified.io.jsonl import read_jsonl, write_jsonl
from verified.runtime.checksums import write_built_checksums

MOMENTS = "results/nano/corpus/moments.jsonl"


def debug(folder: Path, *arguments: str) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "verified", "dev", "debug", *arguments, "--configfile", str(NANO)]
    return called(command, folder)


def test_a_script_runs_with_the_rules_own_files(tmp_path):
    moment = {"video": "a", "start": 1.0, "end": 2.5, "duration": 4.0, "caption": "a ball"}
    rows = [{"desc_id": number, "split": split, **moment} for number, split in enumerate(("val", "test", "val"))]
    write_jsonl(tmp_path / MOMENTS, rows)
    write_built_checksums(tmp_path / MOMENTS)
    run = debug(tmp_path, "list_coarse_captions", "dataset=nano", "split=val")
    assert run.returncode == 0, run.stdout
    listed = read_jsonl(tmp_path / "results/nano/annotations/cog/val.jsonl")
    assert [row["desc_id"] for row in listed] == [0, 2]
    assert (tmp_path / "logs/nano/list_coarse_captions/val.log").is_file()


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["list_coarse_caption", "split=val"], "'list_coarse_captions'"),
        (["list_coarse_captions", "split=val"], "dataset, split"),
        (["list_coarse_captions", "dataset=nano", "split=val"], MOMENTS),
        (["list_coarse_captions", "nano"], "WILDCARD=VALUE"),
    ],
    ids=["rule", "wildcard", "input", "form"],
)
def test_mistakes_are_named(tmp_path, arguments, named):
    run = debug(tmp_path, *arguments)
    assert run.returncode == 2, run.stdout
    said(run.stdout, named)
