"""A run as a Workflow Run RO-Crate: every named file exists, with the recorded content."""

import csv
import hashlib
import json
from pathlib import Path

import pytest
from refusals import refused

from verified.__main__ import main
from verified.io.jsonl import read_json, write_jsonl
from verified.runtime.checksums import write_checksums
from verified.runtime.manifest import write_manifest
from verified.runtime.project import PROJECT
from verified_field.exports.crate import PROFILES, write_crate

FACTS = {"name": "lab", "project": PROJECT, "commit": "commit 0123", "licence": "CC-BY-4.0", "creators": ["A Lab"]}
RESULTS = Path("results/lab")
BUILT = {
    "annotations/candidates.parquet": "large",
    "corpus/counts.json": "{}",
    "retrieval/xml/fig/seed-1/fig/metrics.json": "{}",
}
TABLES = {"tables/all.csv": "table,row\n", "tables/main-4.md": "| XML | 1.0 |\n"}
VALUES = {"name": "lab", "datasets": {"lab": {"title": "L", "source": {"kind": "demo"}}}}


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A finished run of a few files; the working directory is its own."""
    monkeypatch.chdir(tmp_path)
    for name, text in (BUILT | TABLES).items():
        path = RESULTS / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    video = Path('videos/a "b".mp4')
    video.parent.mkdir()
    video.write_bytes(b"video")
    rows = [{"video": "a", "path": str(video), "sha256": hashlib.sha256(b"video").hexdigest()}]
    rows.append({"video": "gone", "path": "videos/gone.mp4", "sha256": "0" * 64})
    write_jsonl(RESULTS / "corpus/videos.jsonl", rows)
    write_checksums(RESULTS / "tables", rule="build_tables")
    for path in BUILT:
        write_checksums(RESULTS / path, rule="some_rule", wildcards={"dataset": "lab"})
    write_checksums(RESULTS / "corpus/videos.jsonl")
    write_manifest("results/lab", "", {}, ended=True)
    Path("lab.yaml").write_text("name: lab\n")
    return tmp_path


def written(folder="crate", **facts) -> tuple[Path, dict]:
    write_crate(Path(folder), RESULTS, "name: lab\n", [Path("lab.yaml")], {**FACTS, **facts})
    return Path(folder), read_json(Path(folder, "ro-crate-metadata.json"))


def test_every_reference_leads_somewhere_and_every_file_is_described(run):
    folder, described = written()
    entities = {entity["@id"]: entity for entity in described["@graph"]}
    assert len(entities) == len(described["@graph"])
    outside = {reference for reference in references(described["@graph"]) if reference not in entities}
    assert all(reference.startswith("https://") for reference in outside), outside
    files = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert files - {"ro-crate-metadata.json"} == {
        name for name, entity in entities.items() if "File" in entity["@type"]
    }
    root, action = entities["./"], entities["#run"]
    assert {one["@id"] for one in root["conformsTo"]} == set(PROFILES)
    assert action["instrument"] == root["mainEntity"] and action["startTime"] <= action["endTime"]
    assert entities[root["author"][0]["@id"]]["name"] == "A Lab" and entities["#licence"]["name"] == "CC-BY-4.0"


def references(value) -> set[str]:
    """What `{"@id": …}` alone points to, anywhere in a value."""
    if isinstance(value, dict):
        return {value["@id"]} if value.keys() == {"@id"} else set().union(*map(references, value.values()))
    return set().union(*map(references, value)) if isinstance(value, list) else set()


def test_small_results_are_copied_and_all_are_listed(run):
    folder, _ = written()
    rows = list(csv.DictReader((folder / "outputs.csv").open()))
    listed = [row["path"].removeprefix("results/lab/") for row in rows]
    assert listed == sorted([*BUILT, *TABLES, "corpus/videos.jsonl"])
    for row in rows:
        content = Path(row["path"]).read_bytes()
        assert (int(row["bytes"]), row["sha256"]) == (len(content), hashlib.sha256(content).hexdigest())
    assert json.loads(rows[0]["wildcards"]) == {"dataset": "lab"} and rows[0]["rule"] == "some_rule"
    copied = {path.relative_to(folder / RESULTS).as_posix() for path in (folder / RESULTS).rglob("*") if path.is_file()}
    assert copied == set(listed) - {"corpus/videos.jsonl", "annotations/candidates.parquet"}
    inputs = list(csv.DictReader((folder / "inputs.csv").open()))
    assert [(row["path"], row["bytes"]) for row in inputs] == [('videos/a "b".mp4', "5"), ("videos/gone.mp4", "-1")]


def test_a_damaged_result_and_no_run_are_refused(run):
    (RESULTS / "annotations/candidates.parquet").write_text("other")
    with refused("candidates.parquet"):
        written("other")
    assert not list(run.glob("*other*"))
    Path("lab.yaml").write_text(json.dumps({**VALUES, "name": "none"}))
    assert main(["export", "--form", "crate", "--configfile", "lab.yaml"]) == 2


def test_the_command_writes_the_configuration_with_all_defaults(run, capsys):
    Path("lab.yaml").write_text(json.dumps(VALUES))
    crate = RESULTS / "export" / "crate"
    for _ in range(2):  # another takes the place of the first
        crate.with_name(".crate.unfinished").mkdir(parents=True)  # of one that was killed
        assert main(["export", "--form", "crate", "--configfile", "lab.yaml"]) == 0
        assert "6 built files" in capsys.readouterr().out and not crate.with_name(".crate.unfinished").exists()
        assert "resamples" in (crate / "configuration.yaml").read_text()
        assert "torch==" in (crate / "packages.txt").read_text()
