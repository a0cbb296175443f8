"""Power against simulations of known truth (benchmarks/significance.py), judged by the comparison itself."""

import json
import sys

import numpy as np
import pytest
from running import PROJECT
from scipy.stats import norm

from verified.__main__ import main
from verified.benchmark.intervals import SIGNIFICANT, difference
from verified.benchmark.vcmr.results import write_per_query
from verified.errors import InputError
from verified_power.power import POWER, detectable, guess, measure, needed_trainings, needed_videos, power

sys.path.insert(0, str(PROJECT / "benchmarks"))

from significance import AGREEMENT, RELATED, Simulation, videos

QUERIES = 6
"""Of each video."""


def two_models(case, recalls, owner, trainings, draws, random):
    """Right or wrong, [trainings, queries, draws] of each of two models that share a half of what is hard."""
    parts = case.parts()

    def normal(size, *shape):
        return np.sqrt(size) * random.standard_normal((*shape, draws), dtype=np.float32)

    count, queries = owner.max() + 1, len(owner)
    shared = normal(RELATED * parts["video"], count)[owner] + normal(RELATED * parts["query"], queries)
    for recall in recalls:
        own = normal((1 - RELATED) * parts["video"], count)[owner] + normal((1 - RELATED) * parts["query"], queries)
        again = normal(parts["video again"], trainings, count)[:, owner] + normal(
            parts["query again"], trainings, queries
        )
        score = again + normal(parts["training"], trainings, 1) + shared + own
        yield (score < norm.ppf(recall)).astype(np.float32)


def found(case, apart, count, trainings, draws=1200):
    """Share of comparisons that find a difference of `apart` between the recalls of two models."""
    random, owner = np.random.default_rng(1), videos(count, QUERIES * count)
    recalls = case.recall + apart / 2, case.recall - apart / 2
    seen = [difference(*two_models(case, recalls, owner, trainings, 200, random), owner) for _ in range(draws // 200)]
    return np.mean(np.concatenate([each.p for each in seen]) < SIGNIFICANT)


def measured(case, apart=0.0, seed=3):
    random, owner = np.random.default_rng(seed), videos(500, QUERIES * 500)
    recalls = case.recall + apart / 2, case.recall - apart / 2
    first, second = two_models(case, recalls, owner, 40, 1, random)
    return measure(first[..., 0], second[..., 0], owner)


@pytest.mark.parametrize(
    ("case", "count", "trainings"),
    [
        (Simulation(0.3, 0.2, 0.02), 56, 3),
        (Simulation(0.3, 0.2, 0.04), 56, 5),
        (Simulation(0.5, 0.4, 0.01), 100, 2),
        (Simulation(0.2, 0.1, 0.02), 200, 10),
    ],
)
def test_the_smallest_difference_is_found_as_often_as_is_said(case, count, trainings):
    spread = measured(case, 0.1)
    size = detectable(spread, count, trainings)
    assert found(case, size, count, trainings) == pytest.approx(POWER, abs=0.05)
    guessed = guess(case.recall, case.noise, case.correlation, AGREEMENT, RELATED, QUERIES)
    assert power(guessed, size, count, trainings) == pytest.approx(POWER, abs=0.08), "related answers are guessed"


def test_needed_videos_and_trainings_are_the_fewest():
    spread = guess(0.3, 0.02, 0.2, AGREEMENT, RELATED, QUERIES)
    for trainings in (5, 10):
        needed = needed_videos(spread, 0.06, trainings)
        assert power(spread, 0.06, needed, trainings) >= POWER > power(spread, 0.06, needed - 1, trainings)
    alone = [guess(0.3, 0.02, correlation, AGREEMENT, RELATED, 1) for correlation in (0.1, 0.9)]
    assert alone[0] == alone[1], "one query of each video has no other to correlate with"
    needed = needed_trainings(spread, 0.06, 200)
    assert power(spread, 0.06, 200, needed) >= POWER > power(spread, 0.06, 200, needed - 1)
    assert needed_videos(spread, 0.03, 3) is None, "trainings that spread by 2 points hide 3, whatever the videos"
    assert needed_videos(guess(0.3, 0.0, 0.2, AGREEMENT, RELATED, QUERIES), 0.03, 3) < 10_000


def test_nothing_lasts_of_answers_that_each_training_draws_anew():
    first, second = np.random.default_rng(8).random((2, 3, 900)) < 0.4
    spread = measure(first, second, np.arange(900))
    assert spread.lasting < 0.1 * min(spread.fleeting)


def test_the_command_reads_runs_and_refuses_what_it_cannot_judge(tmp_path, capsys):
    random, owner = np.random.default_rng(0), videos(60, 360)
    for name, values in zip(("xml", "hero"), two_models(Simulation(0.3, 0.2, 0.02), (0.4, 0.3), owner, 3, 1, random)):
        for seed, row in enumerate(values[..., 0]):
            folder = tmp_path / name / f"seed-{seed}" / "fig"
            folder.mkdir(parents=True)
            write_per_query(folder / "per_query.npz", np.arange(360), [f"v{n}" for n in owner], {"VR/r1": row})
    xml, hero = str(tmp_path / "xml"), str(tmp_path / "hero")
    assert main(["power", xml, hero, "--metric", "VR/r1", "--json"]) in (0, None)
    answer = json.loads(capsys.readouterr().out)
    assert answer["test_videos"] == 60 and [row["trainings"] for row in answer["rows"]] == [2, 3, 5, 10]
    assert all(row["queries"] == (row["videos"] and QUERIES * row["videos"]) for row in answer["rows"])
    points = [row["points"] for row in answer["rows"]]
    assert points == sorted(points, reverse=True)
    assert main(["power", xml, hero, "--metric", "VR/r1"]) in (0, None)
    assert "0.6 to 2.9 times" in capsys.readouterr().out
    for words, problem in (
        ([xml, hero], "VCMR/0.5/r1"),
        ([xml], "1 runs"),
        ([xml, str(tmp_path)], "no seed-*"),
        ([], "--recall"),
        (["--recall", "20", "--spread", "40"], "cannot spread"),
    ):
        assert main(["power", *words]) == 2
        assert problem in capsys.readouterr().err
    with pytest.raises(InputError, match="single training"):
        measure(np.ones((1, 4)), np.ones((2, 4)), [1, 1, 2, 2])
    with pytest.raises(InputError, match="single video"):
        measure(np.ones((2, 4)), np.ones((2, 4)), [1, 1, 1, 1])
