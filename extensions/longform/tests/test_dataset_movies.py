"""A data set of the configuration as movies: rendered videos, features of a small CLIP, every baseline, its tables."""

import pytest
import yaml
from running import snakemake
from tiny_models import clip

from verified.io.jsonl import read_json, read_jsonl

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    source = {"kind": "demo", "videos": 8, "seconds": 10, "train_share": 0.5, "val_share": 0.2}
    values = {
        "name": "short",
        "shards": 1,
        "datasets": {"world": {"title": "World", "source": source}},
        "longform": {
            "datasets": {"videos": {"title": "Videos", "source": {"kind": "dataset", "dataset": "world"}}},
            "encoder": str(clip(tmp_path_factory.mktemp("clip"))),
            "grid": {"fps": 2, "window": 8, "clips": 4, "tail": "cover"},
            "models": ["zero-shot"],
            "short_seconds": 5,
            "window_seconds": [],
            "chance_runs": 5,
        },
    }
    config = folder / "short.yaml"
    config.write_text(yaml.safe_dump(values))
    run = snakemake(folder, "--cores", "2", "results/short/longform/tables.json", config=config)
    assert run.returncode == 0, run.stdout[-4000:]
    return folder / "results" / "short"


def test_the_moments_of_the_corpus_are_the_rows(built):
    moments = {str(row["desc_id"]): row for row in read_jsonl(built / "world" / "corpus" / "moments.jsonl")}
    rows = read_jsonl(built / "longform" / "videos" / "annotations.jsonl")
    assert len(rows) == len(moments) == read_json(built / "longform" / "videos" / "counts.json")["usable"]
    for row in rows:
        moment = moments[row["id"]]
        assert (row["movie"], row["sentence"], row["split"]) == (moment["video"], moment["caption"], moment["split"])
        assert (row["start"], row["end"]) == (moment["start"], min(moment["end"], moment["duration"]))


def test_its_tables_hold_the_baselines_and_no_published_figure(built):
    tables = {table["key"]: table for table in read_json(built / "longform" / "tables.json")["tables"]}
    assert {"mad-1", "mad-2", "mad-3", "mad-4", "longform-annotations"} <= tables.keys()
    assert {row[1] for row in tables["mad-2"]["rows"]} == {"Oracle", "Random Chance", "Zero-shot"}
    assert {row[0] for row in tables["mad-1"]["rows"]} == {"Videos", "World"}
    assert not any("published" in row for table in tables.values() for row in table["rows"])
