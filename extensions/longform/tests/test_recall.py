"""Recall in movies with intervals, and submissions: written, read, scored, refused."""

import numpy as np
import pytest

from verified_longform.experiment import retrieve_clips
from verified_longform.ranking import measure_recall
from verified_longform.recall import first_hits, recall_over_movies

LATE = [[1000.0 + rank, 1001.0 + rank] for rank in range(100)] + [[0.0, 10.0]]


@pytest.mark.parametrize(
    ("spans", "moment", "gt", "ge"),
    [
        ([[20.0, 30.0], [0.0, 5.0]], [0.0, 10.0], [2, 2, np.inf], [2, 2, 2]),
        # A tIoU of one half is a little more in float64; officially it is compared in float32.
        ([[6.8, 8.0]], [6.8, 9.2], [1, 1, np.inf], [1, 1, 1]),
    ],
)
def test_a_tie_counts_by_the_chosen_comparison(spans, moment, gt, ge):
    for comparison, ranks in (("gt", gt), ("ge", ge)):
        assert first_hits([np.array(spans)], np.array([moment]), comparison).tolist() == [ranks]
    assert np.isinf(first_hits([np.array(LATE)], np.array([[0.0, 10.0]]))).all(), "behind rank 100"


def test_a_query_without_predictions_is_a_miss():
    ranks = first_hits([np.zeros((0, 2)), np.array([[0.0, 1.0]])], np.array([[0, 1], [0, 1]]))
    assert recall_over_movies(ranks, ["m", "m"])["recall"][0] == [50, 50, 50]


def test_intervals_hold_the_mean_and_grow_when_queries_share_movies():
    random = np.random.default_rng(1)
    movies = np.repeat(np.arange(10), 40)
    easy = np.repeat(random.random(10) < 0.5, 40)  # a movie is easy as a whole, or hard
    ranks = np.where(easy, 1, np.inf)[:, None].repeat(3, axis=1)
    by_movie, alone = recall_over_movies(ranks, movies), recall_over_movies(ranks, np.arange(400))
    assert by_movie["recall"] == alone["recall"] == [[100 * easy.mean()] * 3] * 5
    assert by_movie["low"][0][0] < by_movie["recall"][0][0] < by_movie["high"][0][0]
    widths = [found["high"][0][0] - found["low"][0][0] for found in (by_movie, alone)]
    assert widths[0] > 2 * widths[1]
    assert by_movie["intra_class"][0][0] == pytest.approx(1)
    cut = [
        {"movie": f"{movie}#{n % 7}", "origin": (movie, 180.0 * (n % 7)), "start": 2.0, "end": 5.0}
        for n, movie in enumerate(movies.tolist())
    ]
    spans = [np.array([[2.0, 5.0, 0.5]] if right else np.zeros((0, 3))) for right in easy]
    assert measure_recall(cut, spans, "gt") == by_movie, "segments of a movie are no movies"


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
