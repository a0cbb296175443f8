"""Queries with several moments or none: measures by hand, forms of ground truths, and the commands."""

import json
from pathlib import Path

import numpy as np
import pytest
from refusals import refused, said

from verified.__main__ import main
from verified.cli.forms import form_of, read_ground_truth
from verified.io.jsonl import read_jsonl, write_json, write_jsonl
from verified_cardinality.evaluate import evaluate, select_threshold
from verified_cardinality.measures import average_precision, best_threshold, count_accuracy, effective_f1, rejection
from verified_cardinality.truth import read_queries

FIXTURES = Path(__file__).parent / "fixtures"
TRUTH, ANSWERS, VAL, VAL_ANSWERS = (
    str(FIXTURES / name) for name in ("test.jsonl", "test-answers.json", "val.jsonl", "val-answers.json")
)


def spans(*pairs) -> np.ndarray:
    return np.array(pairs, float).reshape(-1, 2)


@pytest.mark.parametrize(
    "rows, true, count, f1",
    [
        (spans(), spans(), 1, 1),
        (spans(), spans((0, 4)), 0, 0),
        (spans((0, 4)), spans(), 0, 0),
        (spans((0, 4), (6, 8)), spans((0, 4)), 0, 0),  # one right and one too many
        (spans((5, 9), (1, 2)), spans((1, 3), (5, 9)), 1, (1 + 1 + 1 / 2) / 3),  # tIoU 1 and 1/2
        # The first row leaves its nearest span to the second: 8/10 + 6.5/7 is more than 7/8 + 6.5/10, which misses 0.7.
        (spans((0, 8), (0, 6.5)), spans((0, 10), (0, 7)), 1, 1),
        (spans((0, 10)), spans((0, 5)), 1, 2 / 3),  # tIoU 1/2 is a hit at 0.3 and 0.5
    ],
)
def test_an_answer_counts_as_a_whole(rows, true, count, f1):
    assert count_accuracy(rows, true) == count and effective_f1(rows, true) == pytest.approx(f1)


@pytest.mark.parametrize(
    "rows, true, precision",
    [
        (spans(), spans((0, 4)), 0),
        (spans((20, 24), (8, 12)), spans((8, 12)), 1 / 2),
        # tIoU 1 and 3/4: both right at 0.5 to 0.75, six thresholds of ten, else one of two.
        (spans((2, 6), (20, 23), (8, 9)), spans((2, 6), (20, 24)), 0.6 + 0.4 / 2),
        (spans((0, 4), (0, 4), (6, 9)), spans((0, 4), (6, 9)), (1 + 2 / 3) / 2),  # a span is found once
        (spans(*[(20, 24)] * 10, (0, 4)), spans((0, 4)), 0),  # ten rows count
        # The first row is at 0.6 to both and finds the last, up to 0.6; then the second alone is right, of two.
        (spans((0, 10), (0, 6)), spans((0, 6), (4, 10)), 0.3 + 0.7 / 4),
    ],
)
def test_average_precision_is_of_ranked_rows(rows, true, precision):
    assert average_precision(rows, true) == pytest.approx(precision)


def test_rejection_is_a_share_of_pairs_with_ties_by_half():
    # With a moment: 0.9, 0.5; without: 0.5, nothing answered. Of four pairs, three are won and one is a tie.
    numbers = rejection(np.array([0.9, 0.5, 0.5, -np.inf]), np.array([True, True, False, False]))
    assert numbers.mean() == pytest.approx(3.5 / 4)
    # The second wins 1.5 of 2 pairs: 7/8 + 4/2 · (3/4 - 7/8).
    assert numbers[1] == pytest.approx(7 / 8 + 2 * (3 / 4 - 7 / 8))
    assert np.isnan(rejection(np.array([1.0]), np.array([True]))).all()


def made_up(seed: int, queries: int):
    """Rows and true spans that meet often, with equal scores and equal tIoUs."""
    draw = np.random.default_rng(seed)
    for _ in range(queries):
        n, m = draw.integers(0, 5), draw.integers(0, 6)
        starts = 5.0 * np.sort(draw.choice(30, n, replace=False))
        true = np.stack([starts, starts + draw.integers(1, 6, n)], axis=1)
        rows = true[draw.integers(0, n, m)] if n else np.tile([3.0, 9.0], (m, 1))
        rows = rows + draw.integers(-1, 2, (m, 2)) * draw.choice([0, 0.5, 1])
        rows[:, 1] = np.maximum(rows[:, 1], rows[:, 0] + 0.5)
        yield np.column_stack([rows, np.sort(draw.random(m).round(1))[::-1]]), true


def test_figures_are_those_of_the_official_evaluators():
    pairs = list(made_up(7, 60))
    # By the functions of VLMEvalKit's omtgbench.py, QV-M2's standalone_eval and Soccer-GMR's eval on the same rows.
    assert np.mean([count_accuracy(*pair) for pair in pairs]) == pytest.approx(0.2)
    assert np.mean([effective_f1(rows[:, :2], true) for rows, true in pairs]) == pytest.approx(0.158333333333)
    assert np.mean([average_precision(*pair) for pair in pairs if len(pair[1])]) == pytest.approx(0.416334541063)
    scores = np.array([rows[0, 2] if len(rows) else -np.inf for rows, _ in pairs])
    has_moment = np.array([len(true) > 0 for _, true in pairs])
    assert rejection(scores, has_moment).mean() == pytest.approx(0.652950310559)


def test_the_threshold_is_the_best_of_all():
    for seed in range(20):
        answers, truths = zip(*made_up(seed, 25))

        def mean(least, answers=answers, truths=truths):
            kept = [rows[rows[:, 2] >= least, :2] for rows in answers]
            return np.mean([effective_f1(*pair) for pair in zip(kept, truths)])

        best = max(map(mean, [*np.arange(0, 1.2, 0.1).round(1), 0.0]))
        threshold, found = best_threshold(list(answers), list(truths))
        assert found == pytest.approx(best) == pytest.approx(mean(threshold))


def test_the_readme_shows_what_the_command_prints(capsys, monkeypatch):
    monkeypatch.chdir(FIXTURES)
    text = (FIXTURES.parents[1] / "README.md").read_text(encoding="utf-8")
    words = text.split("\nverified ")[1].split("\n```")[0].split()
    assert main(words) == 0
    assert f"```text\n{capsys.readouterr().out}```" in text


def test_each_form_is_read(tmp_path):
    own = [(query.id, query.video, query.spans.tolist(), query.duration) for query in read_queries(Path(TRUTH))]
    rows = read_jsonl(TRUTH)
    windows = [
        {"qid": r["desc_id"], "vid": r["video"], "relevant_windows": r["spans"], "query": "", "duration": 30}
        for r in rows
    ]
    write_jsonl(tmp_path / "windows.jsonl", windows)
    header = "id\tvideo\tquestion\tanswer\n"
    table = "".join(f"{r['desc_id']}\t{r['video']}\tWhen?\t{json.dumps(r['spans'])}\n" for r in rows)
    (tmp_path / "bench.tsv").write_text(header + table)
    for name in ("windows.jsonl", "bench.tsv"):
        read = [(query.id, query.video, query.spans.tolist()) for query in read_queries(tmp_path / name)]
        assert read == [row[:3] for row in own]
        assert form_of(tmp_path / name, Path(ANSWERS)).name == "any number of moments"
    assert form_of(tmp_path / "windows.jsonl", tmp_path / "rows.jsonl").name != "any number of moments"
    videos = {"v": {"duration": 9, "spans": [[1, 2], [3, 4], [5, 6]], "queries": ["a b", "c", "a  b"]}}
    write_json(tmp_path / "videos.json", videos | {"w": {"duration": 8, "spans": [[0, 1]], "queries": ["c"]}})
    read = [(query.id, query.video, query.spans.tolist()) for query in read_queries(tmp_path / "videos.json")]
    assert read == [(0, "v", [[1, 2], [5, 6]]), (1, "v", [[3, 4]]), (2, "w", [[0, 1]])]


@pytest.fixture
def parts(tmp_path):
    """Three moments of a video, two of which an audit found alike, one asked once more in false words, and answers."""
    moments = [{"desc_id": n, "video": "v", "time": [4 * n, 4 * n + 3], "duration": 20.0} for n in range(3)]
    write_jsonl(tmp_path / "test.jsonl", [*moments, {**moments[0], "desc_id": 3, "video": "w"}])
    finding = {"split": "test", "id": "2", "check": "ambiguous", "detail": "query 0 at 0.00–3.00 s: a dog runs"}
    others = [{**finding, "split": "val", "id": "77"}, {**finding, "check": "outside", "detail": "begins before 0"}]
    write_jsonl(tmp_path / "findings.jsonl", [finding, *others])
    write_jsonl(tmp_path / "twins.jsonl", [{"desc_id": 1, "true": "a cat runs", "twin": "a cat sleeps"}])
    write_json(
        tmp_path / "truth.json", {"moments": "test.jsonl", "ambiguous": "findings.jsonl", "absent": "twins.jsonl"}
    )
    both = [[0, 0, 3, 0.9], [0, 8, 11, 0.8]]
    lists = [both, [[0, 4, 7, 0.7]], both, [[1, 0, 3, 0.6]]]
    write_json(tmp_path / "answers.json", submission(lists))
    write_json(tmp_path / "twin-answers.json", {**submission([]), "SVMR": [{"desc_id": 1, "predictions": []}]})
    return tmp_path


def submission(lists) -> dict:
    return {"video2idx": {"v": 0, "w": 1}, "SVMR": [{"desc_id": n, "predictions": p} for n, p in enumerate(lists)]}


def test_what_is_like_the_same_query_is_alike(parts):
    alike = [
        {"split": "test", "id": first, "check": "ambiguous", "detail": f"query {other} at 0.00–3.00 s"}
        for first, other in (("2", 0), ("0", 1))
    ]
    write_jsonl(parts / "findings.jsonl", alike)
    asked = {query.id: query.spans.tolist() for query in read_queries(parts / "truth.json") if not query.absent}
    together = [[0, 3], [4, 7], [8, 11]]
    assert asked == {0: together, 1: together, 2: together, 3: [[0, 3]]}


def test_a_ground_truth_of_parts_has_several_moments_and_none(parts, capsys):
    assert [query.caption for query in read_queries(parts / "truth.json") if query.absent] == ["a cat sleeps"]
    words = ["evaluate", *(str(parts / name) for name in ("truth.json", "answers.json"))]
    assert main([*words, "--absent", str(parts / "twin-answers.json"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["summary"]
    assert {kind: own["queries"] for kind, own in found.items()} == {"one": 2, "several": 2, "none": 1, "all": 5}
    assert [found["all"][name]["value"] for name in ("EtF1", "C-Acc", "G-mAP", "AUROC")] == [100] * 4
    assert main(words) == 2
    said(capsys.readouterr().err, "absent", remedy=True)


def test_runs_are_compared(parts, capsys):
    write_json(parts / "worse.json", submission([[], [[0, 4, 7, 0.7]], [], []]))
    names = [str(parts / name) for name in ("truth.json", "answers.json", "worse.json")]
    assert main(["compare", *names, "--output", str(parts / "out")]) == 0
    assert "EtF1" in capsys.readouterr().out
    truth = read_ground_truth(Path(TRUTH))
    answers = truth.answers(Path(ANSWERS), None)
    assert len(truth.queries()) == 12 and answers.values.keys() == {"EtF1", "C-Acc"}  # four have no moment
    assert answers.ranks[[0, 5, 6]].tolist() == [1, np.inf, 2] and answers.first[0] == ("test-a", 2, 6)


@pytest.mark.parametrize(
    "changed",
    [{"spans": [[4, 2]]}, {"spans": [[1]]}, {"spans": "none"}, {"video": 3}, {"desc_id": "x"}, {"desc_id": 0}],
)
def test_a_query_that_is_none_is_named_with_its_row(tmp_path, changed):
    rows = read_jsonl(TRUTH)
    write_jsonl(tmp_path / "truth.jsonl", [*rows[:3], {**rows[3], **changed}])
    with refused(file="truth.jsonl", row=4, remedy=True):
        read_queries(tmp_path / "truth.jsonl")


@pytest.mark.parametrize(
    "file, row",
    [
        ("findings.jsonl", {"split": "test", "id": "2", "check": "ambiguous", "detail": "query 3 at 0.00 s"}),
        ("twins.jsonl", {"desc_id": 9}),
    ],
)
def test_parts_that_do_not_fit_are_named_with_their_row(parts, file, row):
    write_jsonl(parts / file, [row])
    with refused(file=file, row=1, remedy=True):
        read_queries(parts / "truth.json")


def test_a_submission_that_cannot_be_scored_is_named(tmp_path, parts, capsys):
    queries = read_queries(Path(TRUTH))
    given = json.loads(Path(ANSWERS).read_text())
    elsewhere = {**given, "SVMR": [{"desc_id": 0, "predictions": [[1, 2, 6, 0.9]]}, *given["SVMR"][1:]]}
    for document in ({**given, "SVMR": given["SVMR"][1:]}, {"video2idx": {}, "VR": []}, elsewhere):
        write_json(tmp_path / "bad.json", document)
        with refused(file="bad.json", remedy=True):
            evaluate(queries, tmp_path / "bad.json")
    moments = [row for row in read_jsonl(VAL) if row["spans"]]
    write_jsonl(tmp_path / "val.jsonl", moments)
    equal = [[[n, 1, 2, 0.5]] * 9 for n in range(2)]
    hopeless = [{"desc_id": row["desc_id"], "predictions": rows} for row, rows in zip(moments, equal)]
    write_json(tmp_path / "hopeless.json", {"video2idx": {"val-k": 0, "val-l": 1}, "SVMR": hopeless})
    with refused("--nms-threshold", file="hopeless.json", remedy=True):
        select_threshold(tmp_path / "val.jsonl", [tmp_path / "hopeless.json"], None)
    assert main(["evaluate", TRUTH, ANSWERS, "--val", VAL]) == 2
    said(capsys.readouterr().err, "--val", remedy=True)
    assert main(["evaluate", str(parts / "test.jsonl"), ANSWERS, "--absent", ANSWERS]) == 2
    said(capsys.readouterr().err, "--absent", "moments", remedy=True)
