"""Comparisons of movies, as `verified compare` serves them."""

import json

import pytest
from compared import COUNT, lines, table
from refusals import refused

from verified.__main__ import main
from verified.benchmark.vcmr.answers import MomentTruth
from verified.cli.forms import read_ground_truth
from verified_longform.answers import MovieTruth
from verified_longform.recall import IOUS, KS
from verified_longform.submission import evaluate, read_submission


def movies(folder, indent=None):
    """Twelve sentences in four movies of 100 s; each moment has 10 s."""
    annotations = {
        str(n): {
            "movie": f"f{n % 4}",
            "sentence": f"someone walks {'away' if n % 2 else 'in'}",
            "movie_duration": 100.0,
            "timestamps": [5.0 * n, 5.0 * n + 10],
            "ext_timestamps": [5.0 * n, 5.0 * n + 10],
        }
        for n in range(COUNT)
    }
    annotations["x"] = {**annotations["0"], "sentence": " "}  # cannot be used
    path = folder / "truth.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(annotations, indent=indent))
    return path


def spans(path, rank_of):
    """A submission to `movies`: the moment at rank_of(n), counted from 0, among spans that miss it."""
    rows = []
    for n in range(COUNT):
        listed = [[90.0 + rank, 91.0 + rank, 0.1] for rank in range(6)]
        listed.insert(rank_of(n), [5.0 * n, 5.0 * n + 10, 0.9])
        rows.append({"id": str(n), "spans": listed})
    return lines(path, [*rows, {"id": "x", "spans": []}])


@pytest.mark.parametrize("indent", [None, 1])
def test_a_ground_truth_is_known_by_its_form(indent, tmp_path):
    assert isinstance(read_ground_truth(movies(tmp_path / "movies", indent)), MovieTruth)
    moment = {"desc_id": 1, "video": "v", "time": [0, 1]}
    assert isinstance(read_ground_truth(lines(tmp_path / "moments.jsonl", [moment])), MomentTruth)
    with refused(file="none.jsonl"):
        read_ground_truth(tmp_path / "none.jsonl")


def test_movies_have_the_recall_that_evaluate_gives_them(tmp_path):
    truth = read_ground_truth(movies(tmp_path))
    file = spans(tmp_path / "s.jsonl", lambda n: n % 7)
    given = truth.answers(file, None)
    read = read_submission(file)
    del read["x"]
    expected = evaluate(truth.rows, read)["recall"]
    for row, k in enumerate(KS):
        for column, threshold in enumerate(IOUS):
            assert 100 * given.values[f"IoU={threshold:g}/R@{k}"].mean() == pytest.approx(expected[row][column])
    assert given.ranks.tolist() == [1 + n % 7 for n in range(COUNT)]
    assert [query.id for query in truth.queries()] == list(map(str, range(COUNT)))


def test_a_span_that_repeats_a_better_one_is_suppressed_where_asked(tmp_path):
    truth = read_ground_truth(movies(tmp_path))
    rows = [{"id": str(n), "spans": [[80, 90], [80, 91], [5.0 * n, 5.0 * n + 10]]} for n in range(COUNT)]
    file = lines(tmp_path / "s.jsonl", rows)
    assert set(truth.answers(file, None).ranks) == {3} and set(truth.answers(file, 0.5).ranks) == {2}


def test_movies_are_compared(tmp_path, capsys):
    good, poor = (
        spans(tmp_path / "good.jsonl", lambda n: 0),
        spans(tmp_path / "poor.jsonl", lambda n: 0 if n < 3 else 6),
    )
    out = tmp_path / "out"
    assert main(["compare", str(movies(tmp_path)), str(good), f"other={poor}", "--output", str(out)]) == 0
    assert "| good | other | IoU=0.5 R@1 | 100.00 | 25.00 | 75.00 [" in capsys.readouterr().out
    assert {"position in the video"} <= {row["By"] for row in table(out / "comparison-groups.csv")}
    page = (out / "index.html").read_text()
    assert "someone walks in" in page and "right span at rank 7" in page
