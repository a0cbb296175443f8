"""Human judgements of captions in their published forms, and metrics correlated with them."""

import json
from itertools import combinations

import numpy as np
import pytest
from candidate_rows import moment_row, score_row
from captioning import make_moments, make_videos
from scipy.stats import kendalltau, spearmanr
from sklearn.metrics import roc_auc_score
from small_review import decision_row

from verified.__main__ import main
from verified.demo.pretrained import shipped_evaluator
from verified.errors import InputError
from verified.io.jsonl import write_jsonl
from verified_lab.meta_evaluation.correlation import MEASURES, Rated, compare_metrics, measure
from verified_lab.meta_evaluation.judgements import AGREEMENT, COSINE, read_judgements


def decision(desc_id, what, reviewer="ann", when=0, **more):
    judged, written = score_row(desc_id, caption=f"caption {desc_id}"), f"2026-01-01T00:00:{when:02d}Z"
    return decision_row(moment_row(desc_id), judged, what, reviewer=reviewer, when=written, **more)


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
        decision(5, "edit", when=8, text="caption five"),
    ]
    write_jsonl(tmp_path / "decisions.jsonl", rows)
    found = {(one.desc_id, one.caption): one for one in read_judgements(tmp_path / "decisions.jsonl")}
    assert {name: one.right for name, one in found.items()} == {
        (1, "caption 1"): True,
        (2, "caption 2"): False,
        (2, "other"): True,
        (5, "caption 5"): False,
    }
    assert sorted(found[1, "caption 1"].grades) == [("ann", 1.0), ("bob", 0.0), ("eve", 1.0)]


def test_what_a_row_says_of_a_caption_holds_for_its_other_rows(tmp_path):
    row, file = {"video": "v", "caption": "c", "grade": 2}, tmp_path / "graded.jsonl"
    first = {**row, "right": False, "references": ["r"]}
    write_jsonl(file, [first, {**row, "person": "eve", "group": "statics"}])
    (found,) = read_judgements(file)
    assert (found.right, found.references, found.group) == (False, ("r",), "statics") and len(found.grades) == 2
    for key, other in (("right", True), ("references", ["s"]), ("desc_id", True)):
        write_jsonl(file, [first, {**row, key: other}])
        with pytest.raises(InputError, match=f"row 2: '{key}'"):
            read_judgements(file)


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


def sample(n: int = 80):
    random = np.random.default_rng(4)
    quality = random.normal(size=n)
    grades = np.clip(np.round(quality + random.normal(0, 0.5, (3, n)) + 3), 1, 5)
    grades[2, ::7] = np.nan
    clips = [number // 4 for number in range(n)]
    right = (quality + random.normal(0, 0.5, n) > 0).astype(float)
    right[:5] = np.nan
    return quality, Rated(grades, right, clips, [clip // 2 for clip in clips])


def test_each_measure_is_what_a_plain_computation_says():
    quality, rated = sample()
    score = np.round(quality, 1)
    found = dict(zip(MEASURES, measure(score, rated, rated.pairs(), np.ones(80, dtype=int))))
    given = [~np.isnan(row) for row in rated.grades]
    for name, of in (("kendall", kendalltau), ("spearman", spearmanr)):
        each = [of(score[numbers], row[numbers])[0] for numbers, row in zip(given, rated.grades)]
        assert found[name] == pytest.approx(np.mean(each)), "the mean over people"
    assert found["auroc"] == pytest.approx(roc_auc_score(rated.right[5:], score[5:]))
    mean, hits = np.nanmean(rated.grades, axis=0), []
    for one, two in combinations(range(80), 2):
        if rated.clips[one] == rated.clips[two] and mean[one] != mean[two]:
            same = (score[one] > score[two]) == (mean[one] > mean[two])
            hits.append(0.5 if score[one] == score[two] else float(same))
    assert found["accuracy"] == pytest.approx(np.mean(hits))


def test_a_weight_counts_a_caption_so_often():
    quality, rated = sample()
    weights = np.array([2 if clip % 3 else 0 for clip in rated.clips])
    rows = np.repeat(np.arange(80), weights)
    again = Rated(rated.grades[:, rows], rated.right[rows], [rated.clips[row] for row in rows], rows.tolist())
    whole = np.ones(len(rows), dtype=int)
    expected = measure(quality[rows], again, again.pairs(), whole)
    assert measure(quality, rated, rated.pairs(), weights) == pytest.approx(expected)


def test_intervals_hold_the_value_and_gaps_tell_a_metric_from_noise():
    quality, rated = sample()
    noise = np.random.default_rng(1).normal(size=80)
    scores = {"good": quality, "better still": quality * 2 + 1, "noise": noise, "flat": np.zeros(80)}
    found = compare_metrics(scores, rated, 200, 1)
    for name in MEASURES:
        good, same, bad = (found[metric][name] for metric in ("good", "better still", "noise"))
        assert good["low"] < good["value"] < good["high"]
        assert (same["gap"], same["gap_low"], same["gap_high"]) == (0, 0, 0), "paired: the same order, on every draw"
        assert bad["gap_high"] < 0
    assert found["flat"]["kendall"]["value"] is None and found["flat"]["accuracy"]["value"] == 0.5
    assert found == compare_metrics(scores, rated, 200, 1)
