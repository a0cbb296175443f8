"""Two configurations in one folder, in turn: each has outputs of its own."""

import os
import re
from pathlib import Path

import pytest
from given import CONFIG, annotations
from running import digests, snakemake

from verified.statistics.cache import KINDS

SHOWN = "results/tables"
pytestmark = pytest.mark.night


def configure(folder: Path, name: str, first: int) -> Path:
    """A configuration of finished annotations of its own; two of them share the key of their data set."""
    (folder / name).mkdir()
    for split, start in (("train", first), ("test", first + 10)):
        (folder / name / f"{split}.jsonl").write_bytes(annotations(start))
    path = folder / f"{name}.yaml"
    path.write_text(
        CONFIG.replace("name: mine", f"name: {name}").replace("released_dir: given", f"released_dir: {name}")
    )
    return path


def files_of(folder: Path, name: str) -> dict[str, str]:
    return {path: digest for path, digest in digests(folder).items() if path.startswith(f"results/{name}/")}


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """A folder in which two configurations were built by the same command."""
    folder = tmp_path_factory.mktemp("shared")
    configs = {name: configure(folder, name, first) for name, first in (("one", 0), ("two", 20))}
    for path in configs.values():
        run = snakemake(folder, "--cores", "1", SHOWN, config=path)
        assert run.returncode == 0, run.stdout[-6000:]
    return folder, configs


def test_both_are_whole_and_say_whose_they_are(shared):
    folder, configs = shared
    for name in configs:
        built = folder / "results" / name
        assert f"Configuration {name}," in (built / "tables" / "main-1.md").read_text()
        assert (built / "mine" / "annotations" / "fig" / "train.jsonl").read_bytes() == (
            folder / name / "train.jsonl"
        ).read_bytes()
    assert os.readlink(folder / SHOWN) in {"one/tables", "two/tables"}


def test_the_link_shows_the_configuration_of_the_last_run_also_where_nothing_was_left_to_do(shared):
    folder, configs = shared
    before = digests(folder)
    for name in ("one", "two", "one"):
        run = snakemake(folder, "--cores", "1", SHOWN, config=configs[name])
        assert run.returncode == 0 and "Nothing to be done" in run.stdout, run.stdout[-3000:]
        assert os.readlink(folder / SHOWN) == f"{name}/tables"
    snakemake(folder, "--dry-run", SHOWN, config=configs["two"])
    snakemake(folder, "--cores", "1", "results/two/mine/corpus/moments.jsonl", config=configs["two"])
    assert os.readlink(folder / SHOWN) == "one/tables", "neither a dry run nor another target asks for the tables"
    assert {path: digest for path, digest in digests(folder).items() if path in before} == before


def test_a_third_of_other_settings_and_one_more_split_measures_that_split_alone(shared):
    folder, configs = shared
    (folder / "more").mkdir()
    for split in ("train", "test"):
        (folder / "more" / f"{split}.jsonl").write_bytes((folder / "one" / f"{split}.jsonl").read_bytes())
    (folder / "more" / "val.jsonl").write_bytes(annotations(60).replace(b"ball", b"cube"))
    config = folder / "more.yaml"
    settings = configs["one"].read_text().replace("name: one", "name: more").replace("_dir: one", "_dir: more")
    config.write_text(settings + "statistics: {distance: 0.05}\n")
    before = entries(folder)
    wanted = [f"results/more/mine/statistics/{name}" for name in ("many_to_many.json", "language.json")]
    run = snakemake(folder, "--cores", "1", *wanted, config=config)
    assert run.returncode == 0, run.stdout[-6000:]
    after = entries(folder)
    assert {name: after[name] for name in before} == before and len(after) == len(before) + 4
    for rule, verb in (("embed_captions", "encoded"), ("measure_language", "tagged")):
        said = re.findall(r"(\w+, \w+): \d+ (?:distinct )?captions (\w+)", log_of(folder, rule))
        done = {split: verb if split == "val" else "read" for split in ("train", "val", "test")}
        assert said == [(f"{split}, {key}", done[split]) for key in KINDS for split in done]


def entries(folder: Path) -> dict[str, int]:
    """What configurations share, by name, with when it was written."""
    kept = (folder / "results" / "statistics").glob("[!.]*")
    return {path.name: path.stat().st_mtime_ns for path in kept}


def log_of(folder: Path, rule: str) -> str:
    return (folder / "logs" / "more" / "mine" / f"{rule}.log").read_text()


def test_a_failed_run_deletes_and_shows_nothing(shared):
    folder, configs = shared
    snakemake(folder, "--cores", "1", SHOWN, config=configs["one"])
    before = files_of(folder, "one")
    third = configure(folder, "three", 40)
    (folder / "three" / "test.jsonl").write_text("{}\n")
    run = snakemake(folder, "--cores", "1", SHOWN, config=third)
    assert run.returncode != 0
    assert files_of(folder, "one") == before and os.readlink(folder / SHOWN) == "one/tables"
    (folder / "two" / "test.jsonl").write_text("{}\n")  # also where there are tables of an earlier run
    assert snakemake(folder, "--cores", "1", SHOWN, config=configs["two"]).returncode != 0
    assert (folder / "results" / "two" / "tables").is_dir() and os.readlink(folder / SHOWN) == "one/tables"
