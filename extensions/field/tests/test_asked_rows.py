"""A small run with rows by vectors and by a video LMM: tables, costs, and a quote that finds nothing left to ask."""

import csv

import pytest
import yaml
from running import PROJECT, ended_well

from verified.config import read
from verified.planning.quote import quote

CONFIG = {
    "layers": [str(PROJECT / "config" / "nano.yaml")],
    "generation": {"embed": {"step_seconds": 2}},
    "field": {
        "dense": True,
        "grounder": {"first_stages": ["xml", "dense"], "videos": 2, "frames": 40},
        "reranker": {"first_stages": ["dense-grounded"], "moments": 2},
    },
}


@pytest.mark.slow
def test_rows_without_training_stand_beside_trained_models(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    config = tmp_path / "asked.yaml"
    config.write_text(yaml.safe_dump(CONFIG))
    ended_well(tmp_path, "--cores", "2", "results/tables", config=config)
    methods = ["dense, zero-shot", "dense, zero-shot + LMM spans", "dense, zero-shot + LMM spans + re-ranker"]
    for table in ("main-4", "main-5"):
        rows = list(csv.DictReader(_lines(tmp_path / f"results/tables/{table}.csv")))
        assert {row["Method"] for row in rows} == {"XML", "XML + LMM spans", *methods}
    costs = {row["Method"]: row for row in csv.DictReader(_lines(tmp_path / "results/tables/lmm.csv"))}
    assert float(costs["XML"]["Calls"]) == 0 < float(costs["XML + LMM spans"]["Calls"]) <= 3
    asked = {row["task"]: (row["known"], row["calls"]) for row in quote(read(config))}
    for task in ("embed/vector", "retrieval/ground", "retrieval/grade"):
        known, calls = asked[task]
        assert known > 0 and calls == 0, task
    assert "Nothing to be done" in ended_well(tmp_path, "--cores", "1", "results/tables", config=config)


def _lines(path):
    return path.read_text(encoding="utf-8").splitlines()
