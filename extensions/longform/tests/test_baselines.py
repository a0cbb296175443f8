"""The proposal grid; Oracle, Random Chance and the zero-shot baseline against geometry and the official functions."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from verified.benchmark.lists import suppress_spans
from verified.benchmark.tiou import tiou
from verified_longform.grid import Grid
from verified_longform.ranking import baselines, expected_recall, hit_shares, oracle_iou, simulate_recall
from verified_longform.recall import first_hits, recall_over_movies
from verified_longform.zero_shot import best_spans, rank_proposals

FIXTURES = Path(__file__).parent / "fixtures"


@pytest.fixture(scope="module")
def official():
    return np.load(FIXTURES / "clip_zero_shot.npz"), json.loads((FIXTURES / "clip_zero_shot_expected.json").read_text())


def _ranked(stored) -> list[np.ndarray]:
    ranked = [None] * len(stored["query"])
    for movie, duration in enumerate(stored["durations"]):
        queries = np.flatnonzero(stored["movie_index"] == movie)
        of_movie = rank_proposals(stored[f"feat_m{movie}"], stored["query"][queries], Grid(), duration)
        for query, spans in zip(queries, of_movie, strict=True):
            ranked[query] = spans[:, :2]
    return ranked


def test_proposals_are_the_official_ones(official):
    stored, _ = official
    grid = Grid()
    assert (grid.anchors == stored["moments"]).all()
    for movie, duration in enumerate(stored["durations"]):
        ours = grid.seconds(grid.proposals(grid.frames_of(duration)))
        assert np.abs(ours - stored[f"proposals_m{movie}"]).max() < 2e-5  # theirs are float32


@pytest.mark.parametrize("iou_cmp, key", [("gt", "recall_strict_gt"), ("ge", "recall_ge")])
def test_zero_shot_recall_equals_the_official_functions(official, iou_cmp, key):
    stored, expected = official
    ranks = first_hits(_ranked(stored), stored["gt"], iou_cmp)
    ours = recall_over_movies(ranks, range(len(ranks)))["recall"]
    assert np.abs(np.array(ours) / 100 - np.array(expected[key])).max() < 1e-5


def test_zero_shot_moments_equal_the_official_functions(official):
    stored, expected = official
    for query, spans in enumerate(_ranked(stored)):
        wanted = expected["per_query"][str(query)]
        assert len(spans) == wanted["n_kept"]
        assert np.abs(spans[:5] - np.array(wanted["top5"])).max() < 2e-5


def test_scores_are_the_cosines_of_pooled_proposals():
    random = np.random.default_rng(2)
    frames, queries = random.normal(size=(201, 8)).astype(np.float32), random.normal(size=(40, 8)).astype(np.float32)
    grid = Grid(tail="cover")
    for query, ranked in zip(queries, rank_proposals(frames, queries, grid), strict=True):
        spans = grid.proposals(201)
        pooled = np.stack([frames[2 * a : 2 * b].mean(axis=0) for a, b in spans])
        cosines = pooled @ query / np.linalg.norm(pooled, axis=1) / np.linalg.norm(query)
        assert ranked[0, 2] == pytest.approx(cosines.max(), abs=1e-6)
        assert ranked[0, :2] == pytest.approx(grid.seconds(spans[cosines.argmax()]))


def test_the_oracle_looks_at_every_proposal():
    grid, random = Grid(), np.random.default_rng(3)
    spans = grid.seconds(grid.proposals(900))
    for start in random.uniform(-5, 185, 60):
        end = start + random.uniform(0.1, 60)
        assert oracle_iou(grid, 900, start, end) == pytest.approx(tiou(*spans.T, start, end).max())
        assert hit_shares(grid, 900, start, end) == pytest.approx(
            [(tiou(*spans.T, start, end) > threshold).mean() for threshold in (0.1, 0.3, 0.5)]
        )


def test_expected_recall_gives_the_published_row_of_random_chance():
    published = [[0.09, 0.04, 0.01], [0.44, 0.19, 0.07], [0.88, 0.39, 0.14], [4.33, 1.92, 0.71], [8.47, 3.80, 1.40]]
    ours = 100 * expected_recall(np.array([[0.000885, 0.000387, 0.000141]]))[0]
    assert np.abs(ours[:3] - published[:3]).max() <= 0.005
    assert np.abs(ours - published).max() < 0.008


@pytest.mark.parametrize("iou_cmp", ["gt", "ge"])
def test_drawing_agrees_with_expectation(iou_cmp):
    grid, random = Grid(), np.random.default_rng(4)
    frames = random.choice([900, 1500, 4000, 100], 60)
    starts = random.uniform(0, frames / 5 - 4)
    moments = np.stack([starts, starts + 4], axis=1)
    frames[0], moments[0] = 900, (179.1, 180.0)  # of which the last window, up to 179.2 s, has next to nothing
    shares = [hit_shares(grid, count, *moment, iou_cmp=iou_cmp) for count, moment in zip(frames, moments, strict=True)]
    expected = expected_recall(np.array(shares)).mean(axis=0)
    runs = simulate_recall(grid, frames.tolist(), moments, 0, runs=200, iou_cmp=iou_cmp)
    error = runs.std(axis=0) / np.sqrt(len(runs))
    assert (np.abs(runs.mean(axis=0) - expected) < 4 * error + 1e-4).all()
    rows = [
        {"movie": f"{n}", "origin": (f"{n}", 0.0), "duration": count / 5, "start": start, "end": end}
        for n, (count, (start, end)) in enumerate(zip(frames, moments))
    ]
    measured = baselines(rows, grid, iou_cmp, 200, 0)
    assert np.allclose(measured["chance_drawn"]["error"], 100 * error)
    missed = sum(oracle_iou(grid, count, *moment) == 0 for count, moment in zip(frames, moments))
    assert measured["tail"]["queries_without_overlap"] == missed > 0


@pytest.mark.parametrize("frames", [0, 1, 100, 128])
def test_a_movie_of_one_window_or_less_has_no_proposal_as_published_and_some_when_covered(frames):
    assert len(Grid().proposals(frames)) == 0
    covered = Grid(tail="cover").proposals(frames)
    assert len(covered) == (626 if frames == 128 else (covered[:, 1] * 2 <= frames).sum())
    assert frames < 2 or len(covered)


@given(st.integers(0, 2000))
def test_covering_leaves_less_than_a_clip_and_publishing_less_than_half_a_window_open(frames):
    published, covered = Grid(), Grid(tail="cover")
    assert covered.uncovered_seconds(frames) < covered.clip_frames / covered.fps
    assert published.uncovered_seconds(frames) <= (12.8 if frames > 128 else frames / 5)
    assert set(map(tuple, published.proposals(frames))) <= set(map(tuple, covered.proposals(frames)))
    if frames:
        assert covered.seconds(covered.proposals(frames)).max(initial=0) <= frames / 5


def test_the_best_spans_are_those_of_a_full_sort():
    random = np.random.default_rng(0)
    starts = random.integers(0, 300, 20_000)  # a short movie, so that thousands must be looked at
    spans = np.stack([starts, starts + random.integers(1, 30, 20_000)], axis=1) * 0.4
    scores = np.round(random.normal(size=20_000), 1)  # many ties
    order = np.argsort(-scores, kind="stable")
    assert best_spans(scores, spans, 0.3, 100).tolist() == order[suppress_spans(spans[order], 0.3, 100)].tolist()
