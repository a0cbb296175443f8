"""The stage's rules: a few rendered movies end to end; MAD's published files; plans of the shipped configuration."""

from functools import partial
from types import SimpleNamespace

import pytest
import yaml
from running import SHIPPED, ended_well

from verified.config import load
from verified.io.jsonl import read_json, read_jsonl
from verified_longform.jobs import collection_parts, part_inputs

SOURCE = {"kind": "demo", "movies": 5, "shortest": 90, "longest": 100, "train_share": 0.6}
SMALL = {
    "name": "small",
    "layers": [str(SHIPPED["longform-demo"])],
    "longform": {
        "datasets": {"movies": {"title": "Small movies", "source": SOURCE}},
        "window_seconds": [],
        "mixtures": [],
        "collection": {"window_seconds": 10, "most_seconds": 25},
        "vlg_net": {"epochs": 1},
        "chance_runs": 5,
    },
}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("movies")
    config = folder / "small.yaml"
    config.write_text(yaml.safe_dump(SMALL))
    figure = "results/small/longform/figures/lengths.csv"
    ended_well(folder, "--cores", "2", "results/tables", figure, config=config)
    return folder, config


@pytest.mark.slow
def test_the_tables_of_the_paper_are_there(built):
    folder, _ = built
    names = {path.name for path in (folder / "results" / "tables").iterdir()}
    assert {
        f"mad-{number}.{ending}" for number in range(1, 8) if number != 5 for ending in ("md", "tex", "csv", "html")
    } <= names
    recall = (folder / "results" / "tables" / "mad-2.md").read_text()
    assert all(f"| {method} |" in recall for method in ("Oracle", "Zero-shot", "VLG-Net"))
    curves = (folder / "results" / "small" / "longform" / "figures" / "lengths.csv").read_text()
    assert all(method in curves for method in ("Random Chance", "Zero-shot", "VLG-Net, movies"))


@pytest.mark.slow
def test_every_annotation_is_counted_and_the_collection_is_the_planted_one(built):
    stage = built[0] / "results" / "small" / "longform" / "movies"
    counts, rows = read_json(stage / "counts.json"), read_jsonl(stage / "annotations.jsonl")
    excluded = read_jsonl(stage / "exclusions.jsonl")
    assert counts["rows"] == len(rows) + len(excluded) and counts["usable"] == len(rows)
    check = read_json(stage / "collection.json")
    assert check["refused_rightly"] == 1 and check["accepted_rightly"] == check["movies"] - 1
    assert check["delay_error"] == 0 and check["right"] >= 0.9 * check["rows"] > 0
    submission = read_jsonl(stage / "zero-shot" / "submission.jsonl")
    assert [row["id"] for row in submission] == [row["id"] for row in rows if row["split"] == "test"]


def test_described_movies_are_collected_a_job_each_and_another_row_above_repeats_none(tmp_path):
    def planned(*names):
        rows = [f"{name},{name}.wav,d.wav,t.json,,train\n" for name in names]
        (tmp_path / "m.csv").write_text("movie,track,described,transcript,subtitles,split\n" + "".join(rows))
        movies = {"title": "Mine", "source": {"kind": "described", "manifest": str(tmp_path / "m.csv"), "videos": "."}}
        settings = load({"name": "own", "longform": {"datasets": {"mine": movies}}})
        return collection_parts(settings, "mine"), partial(part_inputs, settings)

    (tmp_path / "a.wav").touch()
    first, inputs = planned("a", "b")
    files = [inputs(SimpleNamespace(movies="mine", part=part)).get("files") for part in first]
    assert files == [[str(tmp_path / "a.wav")], []]
    assert planned("z", "a", "b")[0][1:] == first and len(set(first)) == 2


def test_mads_own_files_are_planned_without_any_feature_extraction(tmp_path):
    files = yaml.safe_load(SHIPPED["mad"].read_text())["longform"]["datasets"]
    for movies in files.values():
        source = movies["source"]
        features = [source[kind] for kind in ("frames", "tokens", "sentences")]
        for path in (*source["annotations"].values(), *features):
            file = tmp_path / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.touch()
    run = ended_well(tmp_path, "--dry-run", "results/tables", config=SHIPPED["mad"])
    assert "extract_" not in run and "fetch_model" not in run
    for rule, times in (("train_vlg_net", 6), ("rank_vlg_net", 7), ("describe_published", 3), ("tabulate_movies", 1)):
        assert f"\n{rule} " in run and int(run.split(f"\n{rule} ")[1].split()[0]) == times
