"""Grading the evaluator: which captions count, and the figures that come out."""

from dataclasses import replace

import numpy as np

from verified.evaluator import validation
from verified.evaluator.validation import DYNAMIC, FAITHFUL, STATIC, Graded


def test_candidates_are_compared_with_their_own_kind():
    captions = [
        {"desc_id": 1, "type": "statics", "candidates": [{"caption": c} for c in "abc"]},
        {"desc_id": 1, "type": "dynamics", "candidates": [{"caption": c} for c in "de"]},
    ]
    corrupted = [
        {"desc_id": 1, "type": "statics", "candidate": 1, "kind": "static"},
        {"desc_id": 1, "type": "dynamics", "candidate": 0, "kind": "dynamic"},
        {"desc_id": 1, "type": "statics", "candidate": 2, "kind": "dynamic"},
    ]
    assert validation.corrupted_candidates(captions, corrupted) == [
        Graded(1, "a", FAITHFUL, (STATIC,)),
        Graded(1, "b", STATIC, (STATIC,)),
        Graded(1, "d", DYNAMIC, (DYNAMIC,)),
        Graded(1, "e", FAITHFUL, (DYNAMIC,)),
    ]


def test_areas():
    both = (STATIC, DYNAMIC)
    kinds = [(FAITHFUL, both), (FAITHFUL, both), (STATIC, (STATIC,)), (DYNAMIC, (DYNAMIC,))]
    graded = [Graded(n // 4, str(n), *kinds[n % 4]) for n in range(40)]
    graded.append(Graded(9, "moves", FAITHFUL, (DYNAMIC,)))
    score = np.array([{FAITHFUL: 2.0, STATIC: 1.0, DYNAMIC: 2.0}[item.kind] for item in graded])
    measured = validation.areas(graded, score, 100, 1)
    assert measured[STATIC] == {"faithful": 20, "perturbed": 10, "value": 1.0, "low": 1.0, "high": 1.0}
    assert (measured[DYNAMIC]["faithful"], measured[DYNAMIC]["value"]) == (21, 0.5)
    noisy = np.random.default_rng(3).normal(size=10)[[item.desc_id for item in graded]] + (score > 1.5)
    alone = [replace(item, desc_id=number) for number, item in enumerate(graded)]
    lows = [validation.areas(captions, noisy, 1000, 1)[STATIC]["low"] for captions in (graded, alone)]
    assert abs(lows[0] - lows[1]) > 0.02, "whole moments are drawn"
    only = [item for item in graded if item.kind == FAITHFUL]
    assert validation.areas(only, np.zeros(21), 100, 1)[STATIC]["value"] is None


def test_calibration_counts_every_caption_once():
    rows = validation.calibration(np.array([0.0, 0.05, 0.55, 1.0]), np.array([False, True, True, True]))
    assert sum(row["captions"] for row in rows) == 4
    assert (rows[0]["captions"], rows[0]["faithful_share"], rows[0]["mean_probability"]) == (2, 0.5, 0.025)
    assert (rows[9]["captions"], rows[9]["faithful_share"], rows[1]["faithful_share"]) == (1, 1.0, None)


def test_precision_rises_where_coverage_falls():
    score, faithful = np.arange(100.0), np.arange(100) >= 40
    rows = validation.precision_coverage(score, faithful)
    assert rows[0] == {"coverage": 0.05, "threshold": 95.0, "precision": 1.0}
    assert rows[-1] == {"coverage": 1.0, "threshold": 0.0, "precision": 0.6}
    graded = [Graded(n // 2, str(n), FAITHFUL if right else STATIC, (STATIC,)) for n, right in enumerate(faithful)]
    measured = validation.validation(graded, {"z1": score, "probability": 1 - score / 100}, "z1", 10, 3)
    assert measured["histogram"]["edges"][-1] == 99.0 and measured["precision_coverage"] == rows
    assert measured["calibration"][0]["faithful_share"] == 1.0


def test_selected_perturbations_are_not_used_for_grading():
    row = {
        "desc_id": 4,
        "caption": "a ball moves",
        "positives": ["one ball moves", "a ball glides", "a ball moves"],
        "statics": ["a box moves", "a ring moves"],
        "dynamics": ["a ball rests"],
        "selected": {"positive": "one ball moves", "statics": "a ring moves", "dynamics": None},
    }
    assert [(item.caption, item.kind) for item in validation.unseen_perturbations([row])] == [
        ("a ball glides", FAITHFUL),
        ("a box moves", STATIC),
        ("a ball rests", DYNAMIC),
    ]
