"""The figures: what they pick, that hostile texts come out as text, and that the same input gives the same bytes."""

import gzip
import json

import numpy as np
import pytest
from PIL import Image

from verified.corpus.encode import write_video
from verified.evaluator.graded import Graded
from verified.evaluator.validation import validation as grade
from verified.figures import examples, recalls, training, validation
from verified.figures.canvas import literal
from verified.figures.predictions import (
    choose_query,
    draw_predictions,
    frames_of,
    is_right,
    overlap,
    read_predictions,
)
from verified.figures.rows import MomentRow, draw_rows

HOSTILE = "costs $x^2$ and $\\frac{1} \u202eabc\u202c \x00 \ud800 </svg>"


def annotation(ident: int, video: str, kind: str = "statics", coarse: str = "a ball moves") -> dict:
    return {"desc_id": ident, "video": video, "time": [1.0, 3.0], "cog_desc": coarse, "fig_desc": f"fine {ident}",
            "fig_desc_type": kind, "fig_desc_score": 1.0, "duration": 8.0}  # fmt: skip


def material(rows: list[dict], spread: dict[int, float] | None = None) -> examples.Material:
    scores = {
        row["desc_id"]: [
            {"type": kind, "candidate": number, "caption": f"{kind} {number}",
             "score": number * (spread or {}).get(row["desc_id"], 0.1)}
            for kind in ("statics", "dynamics") for number in range(3)
        ]
        for row in rows
    }  # fmt: skip
    return examples.Material(rows, scores, {}, {}, seed=1)


def test_examples_come_from_different_videos_and_of_both_types():
    rows = [annotation(n, f"v{n // 3}", "statics" if n % 2 else "dynamics") for n in range(30)]
    chosen = examples.pick(rows, 4, seed=3)
    assert len({row["video"] for row in chosen}) == 4
    assert [row["fig_desc_type"] for row in chosen] == ["statics", "dynamics"] * 2
    assert chosen == examples.pick(rows, 4, seed=3)


def test_the_task_is_shown_by_the_most_shared_caption_of_different_videos():
    rows = [annotation(1, "a", coarse="x"), annotation(2, "a", coarse="x"), annotation(3, "b", coarse="y"),
            annotation(4, "c", coarse="y")]  # fmt: skip
    assert [row["desc_id"] for row in examples.shared_caption(rows)] == [3, 4]
    assert examples.shared_caption(rows[:2]) == []


def test_the_evaluators_clearest_preferences_come_first():
    rows = [annotation(n, f"v{n}") for n in range(1, 7)]
    shown = examples.widest_gaps(rows, material(rows, {2: 0.9, 5: 0.5}).scores)
    assert [row["desc_id"] for row in shown] == [2, 5, 1, 3]


@pytest.mark.parametrize("name", examples.FIGURES)
def test_examples_are_drawn_with_any_text_and_the_same_bytes(name, tmp_path):
    rows = [annotation(n, f"v{n}", coarse=HOSTILE) for n in range(1, 4)]
    frames = {1: [(1.5, Image.new("RGB", (32, 32), "red"))]}
    found = material(rows)
    lines = examples.FIGURES[name](examples.picks(found)[name], frames, found)
    paths = [tmp_path / "a.svg", tmp_path / "a.png", tmp_path / "b.svg", tmp_path / "b.png"]
    draw_rows(lines, paths[:2], "nothing")
    draw_rows(lines, paths[2:], "nothing")
    assert paths[0].read_bytes() == paths[2].read_bytes() and paths[1].read_bytes() == paths[3].read_bytes()
    text = paths[0].read_text(encoding="utf-8")
    assert "<text" not in text and "font-family" not in text  # glyphs are outlines: no font is needed to read it


def test_a_figure_without_examples_says_so(tmp_path):
    draw_rows([], [tmp_path / "a.svg"], "nothing to show")
    assert (tmp_path / "a.svg").stat().st_size > 1000


def test_long_lines_wrap_and_formulas_stay_text():
    row = MomentRow([])
    row.add("word " * 60)
    assert len(row.lines) > 2 and max(len(text) for text, _, _ in row.lines) <= 100
    assert literal("$a$") == r"\$a\$"
    assert literal("a\x00b\u202ec") == "a b c"


def test_predictions_are_judged_as_the_metrics_do():
    query = annotation(1, "a")
    assert overlap((0, 2), (1, 3)) == pytest.approx(1 / 3)
    assert is_right(("a", 1.0, 4.0), query) and not is_right(("b", 1.0, 3.0), query)
    assert not is_right(("a", 3.0, 5.0), query)


def test_the_shown_query_is_one_that_only_the_model_trained_on_fine_captions_answers():
    queries = [annotation(n, "a") for n in range(1, 6)]
    right, wrong = [("a", 1.0, 3.0)], [("b", 1.0, 3.0)]
    fine = dict.fromkeys(range(1, 6), right)
    coarse = dict.fromkeys(range(1, 6), right) | {4: wrong}
    assert choose_query(queries, coarse, fine, seed=1)["desc_id"] == 4
    assert choose_query(queries, fine, fine, seed=1) in queries


def test_predictions_are_drawn_from_a_submission_and_real_frames(tmp_path):
    random = np.random.default_rng(1)
    for name in "ab":
        write_video(tmp_path / f"{name}.mp4", random.integers(0, 255, (64, 48, 64, 3), dtype=np.uint8), 8)
    videos = {name: {"video": name, "path": str(tmp_path / f"{name}.mp4"), "duration": 8.0, "width": 64, "height": 48}
              for name in "ab"}  # fmt: skip
    submission = {"video2idx": {"a": 0, "b": 7},
                  "VCMR": [{"desc_id": 1, "desc": "", "predictions": [[7, 0, 2, 0.9], [0, 1, 3, 0.5]]}]}  # fmt: skip
    with gzip.open(tmp_path / "s.json.gz", "wt") as file:
        json.dump(submission, file)
    ranked = read_predictions(tmp_path / "s.json.gz")
    assert ranked == {1: [("b", 0, 2), ("a", 1, 3)]}
    frames = frames_of(videos["a"])
    assert len(frames) > 3 and frames[0].shape == (96, 128, 3)
    draw_predictions(
        annotation(1, "a"), {"COG": ranked[1], "FIG": []}, videos, [tmp_path / "p.svg", tmp_path / "p.png"]
    )
    assert (tmp_path / "p.png").stat().st_size > 5000


def test_curves_validation_and_recalls_are_drawn_also_where_parts_are_missing(tmp_path):
    logs = {
        ("xml", "cog"): [{"epoch": 0, "total": 1.0, "selection": None}, {"epoch": 1, "total": 0.5, "selection": 3.0}]
    }
    training.draw_retrieval(logs, [tmp_path / "t.svg"])
    training.draw_retrieval({}, [tmp_path / "empty.svg"])
    training.draw_evaluator({"fine-tuning": [{"step": 0, "contrastive_plus": 1.0}]}, [tmp_path / "e.svg"])
    graded = [Graded(n, "a", "static" if n % 2 else "faithful", ("static",)) for n in range(9)]
    readings = {"z1": np.arange(9) / 9, "probability": np.linspace(0, 1, 9)}
    for name, count in (("spoiled", 9), ("perturbations", 0)):
        values = {key: numbers[:count] for key, numbers in readings.items()}
        sets = {name: grade(graded[:count], values, "z1", 20, 0)}
        validation.draw_validation({"confidence": "z1", "sets": sets}, [tmp_path / f"{name}.svg"])
    cell = {"table": "main-4", "dataset": "D", "method": "XML", "train": "FIG", "task": "VR", "metric": "r1",
            "value": "40", "low": "30", "high": "50"}  # fmt: skip
    recalls.draw_recalls([cell, cell | {"metric": "r5", "value": ""}], "main-4", "D", [tmp_path / "r.svg"])
    recalls.draw_recalls([cell], "main-5", "D", [tmp_path / "none.svg"])
    assert len(list(tmp_path.glob("*.svg"))) == 7
