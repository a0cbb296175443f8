"""Confidence scores and spans."""

import pytest

from verified.statistics.summaries import confidence, spans


def row(score: float, start: float = 0.0, end: float = 5.0, kind: str | None = None) -> dict:
    typed = {"fig_desc_type": kind} if kind else {}
    return {"video": "v", "time": [start, end], "duration": 10.0, "fig_desc_score": score, **typed}


def test_scores_by_type_and_overall():
    result = confidence([row(1.0, kind="statics"), row(2.0, kind="statics"), row(-0.6, kind="dynamics")])
    assert (result["statics_count"], result["statics_confidence"]) == (2, 1.5)
    assert (result["dynamics_count"], result["dynamics_confidence"]) == (1, -0.6)
    assert result["total_confidence"] == pytest.approx(0.8) and result["span_seconds"] == 5.0
    scores = result["scores"]
    assert scores["edges"] == [-1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0]
    assert scores["total"]["counts"] == [1, 0, 0, 0, 1, 1] and scores["total"]["positive"] == pytest.approx(2 / 3)
    assert sum(scores["types"]["dynamics"]["counts"]) == 1


def test_spans_past_the_end_count_as_they_stand_and_clamped():
    result = spans([row(0, 0, 4), row(0, 8, 12), row(0, 11, 12)])
    assert result["mean_seconds"] == 3.0 and result["past_end"] == 2
    assert result["mean_seconds_clamped"] == 2.0
    assert (
        sum(result["end"]["counts"]) == sum(result["start"]["counts"]) == sum(result["length_seconds"]["counts"]) == 3
    )
