"""What people say of captions, in the forms it is published in, and metrics held against it."""

import json

import numpy as np
import pytest
from captioning import make_moments, make_videos, settings

from verified.__main__ import main
from verified.benchmark.correlation import MEASURES
from verified.demo.pretrained import shipped_evaluator
from verified.io.jsonl import read_jsonl, write_json, write_jsonl
from verified.lmm.session import Session
from verified.lmm.tasks.retrieval import GRADE
from verified.tables.collect import Collection
from verified.tables.shown import select_shown
from verified_lab.meta_evaluation.judgements import AGREEMENT, COSINE, JUDGE, Judged, plain, read_judgements
from verified_lab.meta_evaluation.metrics import side_by_side
from verified_lab.meta_evaluation.of_run import (
    READINGS,
    by_review,
    by_truth,
    drawn,
    judge_grades,
    judged_rows,
    stored_scores,
)
from verified_lab.tables import meta_evaluation as table


def decision(desc_id, what, reviewer="ann", when=0, **more):
    shown = {"version": 2, "dataset": "kitchen", "desc_id": desc_id, "moment": f"{desc_id}", "video": "v"}
    shown |= {"start": 0.0, "end": 2.0}
    judged = {"type": "statics", "candidate": 0, "caption": f"caption {desc_id}"}
    return {**shown, **judged, "decision": what, "reviewer": reviewer, "when": f"2026-01-01T00:00:{when:02d}Z", **more}


def test_of_a_review_the_latest_decisions_count(tmp_path):
    other = {"type": "dynamics", "candidate": 1, "caption": "other"}
    rows = [
        decision(1, "reject", when=1, reason="wrong colour"),
        decision(1, "accept", when=2),
        decision(1, "reject", "bob", when=3, reason="no"),
        decision(1, "accept", "eve", when=3),
        decision(2, "choose", when=4, instead=other),
        decision(3, "accept", when=5),
        decision(3, "withdraw", when=6),
        decision(4, "flag", when=7),
    ]
    write_jsonl(tmp_path / "decisions.jsonl", rows)
    found = {(one.desc_id, one.caption): one for one in read_judgements(tmp_path / "decisions.jsonl")}
    assert {name: one.right for name, one in found.items()} == {
        (1, "caption 1"): True,
        (2, "caption 2"): False,
        (2, "other"): True,
    }
    assert sorted(found[1, "caption 1"].grades) == [("ann", 1.0), ("bob", 0.0), ("eve", 1.0)]
    scores = [
        {"desc_id": n, "video": "v", "type": "statics", "candidate": 0, "caption": f"caption {n}"} for n in (1, 2, 5)
    ]
    moments = {n: {"start": 0.0, "end": 2.0, "caption": "coarse"} for n in (1, 2, 5)}
    assert [one.desc_id for one in by_review(scores, moments, [*found.values()])] == [1, 2]


def world(count=12):
    """Moments of rendered videos, their candidates with scores, and the false ones."""
    truth = [
        {
            "video": f"v{n // 2}",
            "events": [{"desc_id": n, "facts": {"shape": "ball", "colour": "red", "motion": "moves", "scenes": []}}],
        }
        for n in range(count)
    ]
    moments = {n: {"desc_id": n, "start": 0.0, "end": 2.0, "caption": "a ball moves"} for n in range(count)}
    texts = {"statics": ("a red ball moves", "a blue ball moves"), "dynamics": ("a ball moves", "a ball vanishes")}
    scores = [
        {
            "desc_id": n,
            "video": f"v{n // 2}",
            "type": kind,
            "candidate": k,
            "caption": caption,
            "score": 1.0 - k + n / 100,
            "similarity": n / 100,
        }
        for n in range(count)
        for kind, captions in texts.items()
        for k, caption in enumerate(captions)
    ]
    corrupted = [{"desc_id": n, "type": kind, "candidate": 1} for n in range(count) for kind in texts]
    return truth, moments, scores, corrupted


def test_the_demo_s_truth_grades_the_candidates_of_a_run(tmp_path, monkeypatch):
    truth, moments, scores, corrupted = world()
    sample = drawn(scores, 8, 1)
    assert len({row["desc_id"] for row in sample}) == 8 and sample == drawn(scores, 8, 1) != drawn(scores, 8, 2)
    judged = by_truth(sample, moments, truth, corrupted)
    triples = {(one.caption, one.grades[0][1], one.right) for one in judged}
    assert ("a red ball moves", 1.0, True) in triples and ("a ball vanishes", 0.5, False) in triples

    grades = np.where([one.right for one in judged], 9.0, 2.0)
    grades[0] = np.nan
    write_jsonl(tmp_path / "judged.jsonl", judged_rows(judged, scores, grades))
    again = plain(tmp_path / "judged.jsonl")
    assert [(one.caption, one.right, one.desc_id) for one in again] == [
        (one.caption, one.right, one.desc_id) for one in judged
    ]
    agreements = [{**{key: row[key] for key in ("desc_id", "type", "candidate")}, "agreement": 0.0} for row in scores]
    held = stored_scores(read_jsonl(tmp_path / "judged.jsonl"), again, agreements)
    assert list(held) == [*READINGS, JUDGE, AGREEMENT]
    found = side_by_side(again, held, 100, 1)
    assert found["without_score"][JUDGE] == 1 and found["groups"]["all"]["captions"] == 31
    areas = {name: measured["auroc"]["value"] for name, measured in found["groups"]["all"]["metrics"].items()}
    assert areas["evaluator"] == areas[JUDGE] == 1 and areas[AGREEMENT] == 0.5
    assert {*found["groups"]} == {"all", "statics", "dynamics"}

    from verified.config import load

    demo = {"name": "demo", "datasets": {"demo": {"title": "Demo-FIG", "source": {"kind": "demo"}}}}
    assert not table.inputs(load(demo))
    configured = load({**demo, "meta_evaluation": {}})
    (file,) = table.inputs(configured)
    monkeypatch.chdir(tmp_path)
    write_json(tmp_path / file, {"dataset": "demo", "judge": "reader", **found})
    (made,) = table.tables(select_shown(configured), Collection([], []), [file])
    assert len(made.rows) == 3 * 4 and made.rows[0][:3] == ("Demo-FIG", "all", "evaluator")


def test_a_video_lmm_grades_what_the_ledger_does_not_hold(tmp_path):
    moments = make_moments(["a ball moves", "a box moves"])
    videos = make_videos(tmp_path, moments)
    judged = [Judged("v0", caption, (), None, (0.0, 2.0)) for caption in ("a red ball", "a blue box")]
    judged += [
        Judged("v0", "a star", (), None),
        Judged("gone", "a star", (), None),
        Judged("v0", "x", (), None, (90, 91)),
    ]
    for asked in (3, 0):
        with Session(settings(tmp_path), 1, (GRADE,)) as session:
            grades = judge_grades(judged, videos, 4, session)
            assert session.askers["video_lmm"].asked == asked
    assert np.isfinite(grades[:3]).all() and np.isnan(grades[3:]).all()


def test_the_command_looks_into_videos_and_takes_other_scores(tmp_path, capsys):
    make_videos(tmp_path, make_moments(["a", "b"], videos=2))
    rows = [
        {"video": f"v{n % 2}", "start": 0, "end": 1 + n // 2 / 4, "caption": text, "grade": grade, "person": "ann"}
        for n in range(4)
        for text, grade in ((f"it moves {n}", 5), (f"it stays {n}", 1))
    ]
    write_jsonl(tmp_path / "graded.jsonl", rows)
    write_jsonl(tmp_path / "cider.jsonl", [{**row, "score": row["grade"] / 10} for row in rows])
    command = ["meta-evaluate", str(tmp_path / "graded.jsonl"), "--resamples", "100"]
    looking = ["--videos", str(tmp_path), "--encoder", "packaged-joint", "--evaluator", shipped_evaluator()]
    output = ["--scores", f"cider={tmp_path / 'cider.jsonl'}", "--output", str(tmp_path / "found.json")]
    assert main([*command, *looking, *output]) == 0
    shown = capsys.readouterr().out
    found = json.loads((tmp_path / "found.json").read_text())["groups"]["all"]["metrics"]
    assert list(found) == ["evaluator", COSINE, AGREEMENT, "cider"] and all(name in shown for name in found)
    assert found["cider"]["kendall"]["value"] == pytest.approx(1) and found["cider"]["accuracy"]["value"] == 1
    assert all(found[metric][name]["low"] is not None for metric in found for name in MEASURES if name != "auroc")
