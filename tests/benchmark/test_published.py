"""The published figures and the verdict on each."""

from collections import Counter
from pathlib import Path

import pytest

from verified.benchmark.published import plain, read_published, rounding, verdict_of

FILE = Path(__file__).resolve().parents[2] / "config" / "published.csv"


def test_every_published_figure_is_in_the_file():
    assert len(read_published(FILE, "verified")) == 1226
    movies = Counter(place.table for place in read_published(FILE, "mad"))
    assert movies == {"mad-1": 50, "mad-2": 48, "mad-3": 21, "mad-4": 18, "mad-5": 18, "mad-6": 18, "mad-7": 20}
    questions = Counter((place.table, place.test) for place in read_published(FILE, "rextime"))
    assert questions == {("rextime-1", kind): 18 for kind in ("full", "mini")} | {
        ("rextime-2", kind): 16 for kind in ("full", "mini")
    }


@pytest.mark.parametrize(
    "low, high, trainings, verdict",
    [
        (19.6, 20.9, 3, "reproduced"),
        (21.5, 23.0, 3, "differs"),
        (16.0, 18.5, 3, "differs"),
        (20.2, 21.5, 3, "cannot tell"),
        (5.0, 35.0, 3, "cannot tell"),
        (19.9, 20.1, 1, "cannot tell"),
        (30.0, 31.0, 1, "cannot tell"),
    ],
)
def test_noise_reproduces_nothing(low, high, trainings, verdict):
    assert verdict_of(20.0, (low + high) / 2, 1.0, low, high, trainings) == verdict


@pytest.mark.parametrize(
    "value, verdict", [(6.2149, "reproduced"), (6.205, "reproduced"), (6.2151, "differs"), (None, "not attempted")]
)
def test_without_noise_rounding_decides(value, verdict):
    assert verdict_of(plain("6.21"), value, rounding("6.21")) == verdict
