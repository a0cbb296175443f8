"""Checks against the truth: their counts, and comparisons over all trainings."""

from dataclasses import replace

import numpy as np
import pytest
from shown_settings import shown_settings

from verified.benchmark.vcmr.results import PerQuery
from verified.statistics.validity import (
    cut_recall,
    evaluator_auroc,
    false_captions,
    many_to_many_ratio,
    mark_false,
    proposed_recall,
    recall_difference,
    review_gain,
)
from verified.tables.added import validity
from verified.tables.collect import Collection


def candidate(ident: int, kind: str, number: int) -> dict:
    return {"desc_id": ident, "type": kind, "candidate": number, "caption": f"{kind} {number}", "score": float(number)}


def test_false_captions_are_counted_among_candidates_and_releases_by_type():
    scores = [candidate(i, kind, n) for i in range(10) for kind in ("statics", "dynamics") for n in range(3)]
    corrupted = [{"desc_id": i, "type": "statics", "candidate": 0, "kind": "static"} for i in range(10)]
    corrupted.append({"desc_id": 0, "type": "dynamics", "candidate": 2, "kind": "dynamic"})
    highest = [{"desc_id": i, "fig_desc_type": "dynamics", "fig_desc": "dynamics 2"} for i in range(10)]
    lowest = [{"desc_id": i, "fig_desc_type": "statics", "fig_desc": "statics 0"} for i in range(10)]
    rows = false_captions(mark_false(scores, corrupted), {"chosen": highest, "lowest": lowest})
    shares = {row["check"].removeprefix("false captions among "): (row["value"], row["units"]) for row in rows}
    assert shares["candidates: all"] == (pytest.approx(11 / 60, abs=1e-6), 60)
    assert shares["candidates: statics"] == (pytest.approx(1 / 3, abs=1e-6), 30)
    assert shares["chosen: all"] == shares["chosen: dynamics"] == (0.1, 10)
    assert shares["lowest: all"] == (1.0, 10) and shares["chosen: statics"] == (None, 0)
    aims = {row["check"]: row["met"] for row in rows if row["aim"]}
    assert aims == {"false captions among chosen: all": False}


def test_cuts_count_where_the_limit_of_segments_drops_none():
    events = [{"desc_id": n, "start": start, "end": end} for n, (start, end) in enumerate([(0, 4), (4, 9), (9, 10)])]
    index = [
        {"desc_id": n, "keyframes": [{"segment": edges} for edges in of]}
        for n, of in enumerate([[(0, 1.125), (1.125, 4)], [(4, 6), (6, 9)], [(9, 10)]])
    ]
    recall = cut_recall([{"video": "v", "cuts": [1.0, 3.0, 4.0, 6.0, 8.0], "events": events}], index, 3, 8)
    assert (recall["value"], recall["units"]) == (0.5, 4)
    fewer = cut_recall([{"video": "v", "cuts": [1.0, 6.0, 8.0], "events": events}], index, 2, 8)
    assert (fewer["value"], fewer["units"]) == (1.0, 1), "two cuts are one more than two segments hold"


def test_a_difference_in_recall_is_over_all_trainings_and_says_how_many():
    random = np.random.default_rng(1)
    videos = np.array([f"v{n % 40}" for n in range(200)])
    better, worse = (
        PerQuery(np.arange(200), videos, {"VR/r1": (random.random((3, 200)) < share).astype(float)})
        for share in (0.6, 0.4)
    )
    row = recall_difference("fine minus coarse", better, worse, "VR/r1", (">", 0))
    expected = 100 * (better.values["VR/r1"].mean() - worse.values["VR/r1"].mean())
    assert row["value"] == pytest.approx(expected, abs=1e-6) and row["low"] < expected < row["high"]
    assert row["check"] == "fine minus coarse, VR/r1, 3 trainings each" and row["met"] and row["units"] == 200
    single = [replace(run, values={"VR/r1": run.values["VR/r1"][:1]}) for run in (better, worse)]
    one = recall_difference("fine minus coarse", *single, "VR/r1", (">", 0))
    assert one["check"] == "fine minus coarse, VR/r1" and one["trainings"] == 1 and one["met"] is None
    collection = Collection([], [])
    collection.statistics["demo", "validity"] = {"checks": [row, one]}
    (shown,) = validity.tables(shown_settings({"demo": "Demo"}), collection, [])
    assert [line[-1] for line in shown.rows] == ["yes", "one training"]
    assert shown.texts()[1][2].endswith("]¹") and any("One training" in note for note in shown.notes)


def test_a_review_that_begins_with_the_lowest_scores_finds_so_many_of_the_false_captions():
    scores = [candidate(i, "statics", 0) for i in range(18)]
    corrupted = [{"desc_id": i, "type": "statics", "candidate": 0, "kind": "static"} for i in (0, 1, 4, 17)]
    highest = [
        {"desc_id": i, "fig_desc_type": "statics", "fig_desc": "statics 0", "fig_desc_score": i} for i in range(18)
    ]
    highest[2] |= {"fig_desc": "what somebody wrote"}  # no candidate, and not false
    marked = mark_false(scores, corrupted)
    rows = review_gain(marked, highest)
    assert [row["value"] for row in rows] == [0.5, 0.5, 0.75] and rows[0]["units"] == 4
    assert "10%" in rows[0]["check"] and false_captions(marked, {"chosen": highest})[3]["units"] == 17


def test_aims_and_thresholds_are_those_of_each_check():
    scores = [candidate(i, kind, n) for i in range(9) for kind in ("statics", "dynamics") for n in range(3)]
    corrupted = [{"desc_id": i, "type": "statics", "candidate": i % 2, "kind": "static"} for i in range(9)]
    corrupted += [{"desc_id": i, "type": "dynamics", "candidate": 2, "kind": "dynamic"} for i in range(9)]
    rows = evaluator_auroc(mark_false(scores, corrupted), 99, 1)
    assert [(row["aim"], row["met"], row["units"]) for row in rows] == [(">= 0.92", False, 27), (">= 0.9", False, 27)]
    assert rows[1]["value"] == 0.0 < rows[0]["value"]
    events = [{"start": 0.0, "end": 4.0}, {"start": 4.0, "end": 9.0}]
    recall = proposed_recall([{"video": "v", "events": events}], [{"video": "v", "scenes": [[0.0, 2.0], [7.0, 9.0]]}])
    assert (recall["value"], recall["units"]) == (0.5, 2), "a tIoU of exactly 0.5 is enough"
    ratio = many_to_many_ratio({"cog": {"instances": 40}, "fig": {"instances": 3}})
    assert (ratio["value"], ratio["units"], ratio["met"]) == (0.075, 40, True)
