"""Two configurations in one folder, in turn: each has outputs of its own."""

import os
from pathlib import Path

import pytest
from given import CONFIG, annotations
from running import digests, ended_well, snakemake

SHOWN = "results/tables"
pytestmark = pytest.mark.night


def configure(folder: Path, name: str, first: int) -> Path:
    """A configuration of finished annotations of its own; two of them share the key of their data set."""
    (folder / name).mkdir()
    for split, start in (("train", first), ("test", first + 10)):
        (folder / name / f"{split}.jsonl").write_bytes(annotations(start))
    path = folder / f"{name}.yaml"
    text = CONFIG.replace("name: mine", f"name: {name}")
    path.write_text(text.replace("released_dir: given", f"released_dir: {name}"))
    return path


def test_the_link_shows_the_configuration_of_the_last_run_also_where_nothing_was_left_to_do(tmp_path):
    """In a folder in which two configurations were built by the same command."""
    configs = {name: configure(tmp_path, name, first) for name, first in (("one", 0), ("two", 20))}
    for path in configs.values():
        ended_well(tmp_path, "--cores", "1", SHOWN, config=path)
    before = digests(tmp_path)
    for name in ("one", "two", "one"):
        assert "Nothing to be done" in ended_well(tmp_path, "--cores", "1", SHOWN, config=configs[name])
        assert os.readlink(tmp_path / SHOWN) == f"{name}/tables"
    snakemake(tmp_path, "--dry-run", SHOWN, config=configs["two"])
    snakemake(tmp_path, "--cores", "1", "results/two/mine/corpus/moments.jsonl", config=configs["two"])
    assert os.readlink(tmp_path / SHOWN) == "one/tables", "neither a dry run nor another target asks for the tables"
    assert {path: digest for path, digest in digests(tmp_path).items() if path in before} == before
