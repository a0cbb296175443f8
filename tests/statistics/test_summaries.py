"""Confidence scores and spans."""

import numpy as np
import pytest

from verified.statistics.summaries import confidence, spans


def row(score: float, start: float = 0.0, end: float = 5.0, kind: str | None = None) -> dict:
    typed = {"fig_desc_type": kind} if kind else {}
    return {"video": "v", "time": [start, end], "duration": 10.0, "fig_desc_score": score, **typed}


def test_scores_by_type_and_overall():
    result = confidence(
        [row(1.0, kind="statics"), row(1.9, kind="statics"), row(0.0, kind="statics"), row(-0.6, kind="dynamics")]
    )
    assert (result["statics_count"], result["statics_confidence"]) == (3, pytest.approx(2.9 / 3))
    assert (result["dynamics_count"], result["dynamics_confidence"]) == (1, -0.6)
    assert result["total_confidence"] == pytest.approx(0.575) and result["span_seconds"] == 5.0
    scores = result["scores"]
    assert scores["edges"] == [-1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0]
    assert scores["total"]["counts"] == [1, 0, 1, 0, 1, 1] and scores["total"]["positive"] == 0.5
    assert sum(scores["types"]["dynamics"]["counts"]) == 1
    assert scores["total"]["deviation"] == pytest.approx(np.std([1.0, 1.9, 0.0, -0.6]))


def test_spans_past_the_end_count_as_they_stand_and_clamped():
    result = spans(
        [row(0, 7.6, 10), row(0, 8, 14.2), row(0, 11, 12), row(0, 10, 11) | {"video": "w", "duration": 20.0}]
    )
    assert (result["captions"], result["videos"], result["past_end"]) == (4, 2, 2)
    numbers = {"mean_seconds": 2.65, "mean_seconds_clamped": 1.35, "median_seconds": 1.7}
    numbers |= {"shortest_seconds": 1.0, "longest_seconds": 6.2}
    assert {name: result[name] for name in numbers} == pytest.approx(numbers)
    assert result["length_seconds"] == {"edges": [0, 2, 4, 6, 8], "counts": [2, 1, 0, 1]}
    places = {name: np.repeat(np.arange(20), result[name]["counts"]).tolist() for name in ("start", "end", "share")}
    assert places == {"start": [10, 15, 16, 19], "end": [11, 19, 19, 19], "share": [1, 2, 4, 12]}
