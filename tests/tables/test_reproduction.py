"""A verdict per published figure."""

import re
from pathlib import Path

import pytest
from shown_settings import shown_settings

from verified.benchmark.published import Place, read_published
from verified.io.jsonl import write_json
from verified.tables.collect import Cell, Collection
from verified.tables.reproduction import (
    ABSENT,
    HEADER,
    published_table,
    range_without,
    reproduction,
)
from verified.tables.shown import Shown


def published() -> dict[Place, str]:
    return read_published(Path(__file__).resolve().parents[2] / "config" / "published.csv", "verified")


def settings(title: str = "Charades-FIG", kind: str = "released") -> Shown:
    return shown_settings({"charades": title}, kind, seed=1)


def collection(
    folder: Path, missing: tuple = (), captions: int = 16128, instances: int = 8804, **changes
) -> Collection:
    head = {"splits": ["train", "test"], "missing_splits": list(missing)}
    language = {"captions": captions, "vocab": 989, "words": 6.2146, "nouns": 2.3303, "verbs": 1.1739}
    language["adjectives"] = 0.0463
    fine = {**dict.fromkeys(language), "captions": captions}
    members = [{"size": 2}] * 192 + [{"size": 19}, {"size": 19}]
    clusters = {"captions": captions, "classes": 1393, "instances": instances, "members": members}
    scores = dict.fromkeys(("statics_count", "statics_confidence", "dynamics_count", "dynamics_confidence"))
    scores |= {"span_seconds": 8.2298, "total_confidence": 1.3208}
    files = {
        "language": {
            **head,
            "model": {"name": "en", "version": "3.8.0", "spacy": "3.8.18"},
            "cog": language,
            "fig": fine,
        },
        "many_to_many": {
            **head,
            "cog": clusters,
            "fig": {"captions": captions, "classes": 194, "instances": 421, "members": members},
        },
        "confidence": {**head, **scores},
    }
    paths = []
    for name, values in files.items():
        path = folder / "results" / "charades" / "statistics" / f"{name}.json"
        write_json(path, {**values, **changes.get(name, {})})
        paths.append(str(path))
    return Collection([], paths)


def verdicts(folder: Path, given: Shown | None = None, **changes) -> dict[tuple, dict]:
    rows = reproduction(given or settings(), collection(folder, **changes), published())
    assert len(rows) == 1226 and all(tuple(row) == HEADER for row in rows)
    return {
        tuple(row[key] for key in ("table", "dataset", "train", "metric")): row for row in rows if not row["method"]
    }


def test_a_data_set_that_is_no_part_of_the_run_is_one_line(tmp_path):
    rows = reproduction(settings(), collection(tmp_path), published())
    shown = published_table(rows).rows
    others = {row["dataset"] for row in rows} - {"Charades-FIG"}
    assert len(others) == 2 and sum(row[1] in others for row in shown) == 2
    assert sum(row[1] == "Charades-FIG" for row in shown) == sum(row["dataset"] == "Charades-FIG" for row in rows)
    absent = next(row for row in shown if row[1] == "DiDeMo-FIG")
    assert absent[-1] == f"{sum(row['dataset'] == 'DiDeMo-FIG' for row in rows)} figures: {ABSENT.format('DiDeMo-FIG')}"


def test_figures_that_round_to_the_published_ones_are_reproduced(tmp_path):
    rows = verdicts(tmp_path)
    words = rows["main-1", "Charades-FIG", "COG", "words"]
    assert (words["verdict"], words["value"], words["ours"], words["tolerance"]) == (
        "reproduced",
        "6.21",
        6.2146,
        0.005,
    )
    assert words["difference"] == pytest.approx(0.0046) and words["note"] == ""
    assert rows["supp-1", "Charades-FIG", "", "total_confidence"]["verdict"] == "reproduced"


def test_coarse_instances_have_the_threshold_s_tolerance_and_fine_ones_none(tmp_path):
    rows = verdicts(tmp_path)
    assert rows["main-2", "Charades-FIG", "COG", "instances"]["verdict"] == "reproduced"
    assert rows["supp-2", "Charades-FIG", "FIG", "classes"]["verdict"] == "reproduced"
    assert rows["main-2", "Charades-FIG", "FIG", "instances"]["verdict"] == "differs"
    assert verdicts(tmp_path, instances=8801)["main-2", "Charades-FIG", "COG", "instances"]["verdict"] == "differs"


def test_cells_that_cannot_be_rebuilt_say_why(tmp_path):
    rows = verdicts(tmp_path)
    assert rows["supp-1", "Charades-FIG", "", "statics_count"]["verdict"] == "not attempted"
    assert "do not say which captions" in rows["supp-1", "Charades-FIG", "", "statics_count"]["note"]
    assert "no FIG captions" in rows["main-1", "Charades-FIG", "FIG", "words"]["note"]
    assert "not part of this run" in rows["main-2", "DiDeMo-FIG", "COG", "classes"]["note"]
    for dataset in ("Charades-FIG", "DiDeMo-FIG"):
        assert "needs people" in rows["main-3", dataset, "", "S_total"]["note"]


def test_a_part_of_the_splits_is_never_more_than_partial(tmp_path):
    changes = {"language": {"splits": ["val", "test"]}}
    rows = verdicts(tmp_path, missing=("train",), **changes)
    words = rows["main-1", "Charades-FIG", "COG", "words"]
    assert (words["verdict"], words["note"]) == ("partial", "partial: val+test")
    assert rows["supp-1", "Charades-FIG", "", "total_confidence"]["verdict"] == "partial"


def test_the_demo_is_never_compared(tmp_path):
    given = settings(kind="demo")
    rows = reproduction(given, collection(tmp_path), published())
    assert {row["verdict"] for row in rows} == {"not attempted"}


def test_more_captions_than_the_paper_s_come_with_the_range_of_leaving_some_out(tmp_path):
    note = verdicts(tmp_path, captions=16148)["main-2", "Charades-FIG", "FIG", "instances"]["note"]
    assert "ours counts 16148 captions" in note
    assert re.search(r"leaving out 20 at random gives 4\d\d to 4\d\d \(95 %\), which holds the published one", note)
    assert range_without([{"size": 2}] * 10, 20, 1, "classes", 1) == (9, 9)
    assert range_without([{"size": 2}] * 10, 20, 1, "instances", 1) == (18, 18), "not the one that is left alone"


def test_an_interval_meets_a_figure_within_a_point_or_a_tenth_of_it():
    class Measured:
        def __init__(self):
            self.statistics = {}

        def cells(self, table, dataset):
            places = ((row, column) for row in table.rows for column in table.columns)
            return dict.fromkeys(places, Cell(9.0, 8.5, 9.5, trainings=3)) if table.key == "main-4" else {}

    rows = reproduction(settings(), Measured(), published())
    judged = [row for row in rows if row["table"] == "main-4" and row["ours"] is not None]
    assert judged and {float(row["value"]) > 10 for row in judged} == {True, False}
    assert all(row["tolerance"] == pytest.approx(max(1.0, float(row["value"]) / 10), abs=1e-6) for row in judged)
