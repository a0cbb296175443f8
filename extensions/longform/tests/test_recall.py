"""Recall in movies with intervals, and submissions: written, read, scored, refused."""

import json

import numpy as np
import pytest
from compared import COUNT, lines

from verified.benchmark.tiou import tiou
from verified.cli.forms import read_ground_truth
from verified_longform.experiment import retrieve_clips
from verified_longform.recall import IOUS, KS, first_hits, recall, recall_over_movies
from verified_longform.submission import evaluate, read_submission


def test_a_tie_counts_by_the_chosen_comparison():
    moments = np.array([[0.0, 10.0]])
    half = [np.array([[20.0, 30.0], [0.0, 5.0]])]
    assert first_hits(half, moments, "gt").tolist() == [[2, 2, np.inf]]
    assert first_hits(half, moments, "ge").tolist() == [[2, 2, 2]]


def test_a_query_without_predictions_is_a_miss():
    ranks = first_hits([np.zeros((0, 2)), np.array([[0.0, 1.0]])], np.array([[0, 1], [0, 1]]))
    assert recall(ranks)[0].tolist() == [0.5, 0.5, 0.5]
    assert np.isnan(recall(ranks[:0])).all()


def test_rows_after_rank_100_do_not_count():
    spans = np.array([[1000.0 + rank, 1001.0 + rank] for rank in range(100)] + [[0.0, 1.0]])
    assert recall(first_hits([spans], np.array([[0.0, 1.0]])))[-1].tolist() == [0, 0, 0]


def test_intervals_hold_the_mean_and_grow_when_queries_share_movies():
    random = np.random.default_rng(1)
    movies = np.repeat(np.arange(10), 40)
    easy = np.repeat(random.random(10) < 0.5, 40)  # a movie is easy as a whole, or hard
    ranks = np.where(easy, 1, np.inf)[:, None].repeat(3, axis=1)
    by_movie, alone = recall_over_movies(ranks, movies), recall_over_movies(ranks, np.arange(400))
    assert by_movie["recall"] == alone["recall"] == (100 * recall(ranks)).tolist()
    assert by_movie["low"][0][0] < by_movie["recall"][0][0] < by_movie["high"][0][0]
    widths = [found["high"][0][0] - found["low"][0][0] for found in (by_movie, alone)]
    assert widths[0] > 2 * widths[1]
    assert by_movie["intra_class"][0][0] == pytest.approx(1)


def test_the_threshold_of_one_half_is_compared_in_float32_as_officially():
    span, moment = np.array([[6.8, 8.0]]), np.array([[6.8, 9.2]])
    assert tiou(*moment[0], *span[0]) > 0.5  # a little more, in float64
    assert first_hits([span], moment, "gt").tolist() == [[1, 1, np.inf]]
    assert first_hits([span], moment, "ge").tolist() == [[1, 1, 1]]


class Clips:
    """Features of one frame a clip: movie `m0` holds clip 0, and so on."""

    def __init__(self, clips, queries):
        self.clips, self.queries, self.frames = clips, queries, self

    def length(self, movie):
        return 1

    def movie(self, movie, first, last):
        return self.clips[int(movie[1:])][None]

    def sentence_rows(self, ids):
        return np.stack([self.queries[int(number)] for number in ids])


def _retrieved(clips, queries):
    rows = [{"id": str(number), "movie": f"m{number}", "start": 0.0, "end": 1.0} for number in range(len(clips))]
    return retrieve_clips(rows, Clips(clips, queries), 1.0)


def test_clips_that_tie_are_found_by_chance():
    constant = np.ones((40, 16), np.float32) / 3
    random = np.random.default_rng(0).normal(size=(40, 16)).astype(np.float32)
    for clips, queries in ((constant, random), (random, 0 * random)):  # an encoder that sees, or reads, nothing
        assert _retrieved(clips, queries) == pytest.approx({"1": 2.5, "5": 12.5, "10": 25.0})
    assert _retrieved(random, random) == {"1": 100.0, "5": 100.0, "10": 100.0}
    pairs = np.repeat(random[:20], 2, axis=0)
    assert _retrieved(pairs, pairs) == {"1": 50.0, "5": 100.0, "10": 100.0}


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
