"""The published files themselves, where they are at hand: bytes, anomalies, agreement with their originals."""

from pathlib import Path

import pytest

from verified.annotations.lint import lint
from verified.config.annotations import Lint
from verified.config.sources import ReleasedSource
from verified.io.fig import read_fig, write_fig
from verified.released.collections import read_release

RELEASED = Path(__file__).resolve().parents[3] / "shared" / "data"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not RELEASED.is_dir(), reason="released annotations are not at ../shared/data"),
]


def rows_of(collection: str, *splits: str) -> dict[str, list[dict]]:
    source = ReleasedSource(kind="released", collection=collection, splits=splits, released_dir=str(RELEASED))
    return {split: read_release(source, split) for split in splits}


@pytest.mark.parametrize(
    "name",
    [
        "charades-fig/charades_fig_train",
        "charades-fig/charades_fig_test",
        "didemo-fig/didemo_fig_val",
        "didemo-fig/didemo_fig_test",
    ],
)
def test_the_round_trip_keeps_every_byte(tmp_path, name):
    path = RELEASED / f"{name}.jsonl"
    write_fig(tmp_path / "copy.jsonl", read_fig(path))
    assert (tmp_path / "copy.jsonl").read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "charades-fig/charades_fig_train",
            {
                "span_past_end": 1770,
                "start_past_end": 1,
                "double_spaces": 1,
                "duplicate_caption": 147,
                "low_score": 2520,
            },
        ),
        ("charades-fig/charades_fig_test", {"span_past_end": 543, "duplicate_caption": 26, "low_score": 779}),
        (
            "didemo-fig/didemo_fig_val",
            {"span_past_end": 184, "outer_blanks": 20, "double_spaces": 5, "duplicate_caption": 2, "low_score": 904},
        ),
        (
            "didemo-fig/didemo_fig_test",
            {"span_past_end": 150, "outer_blanks": 14, "double_spaces": 3, "duplicate_caption": 2, "low_score": 800},
        ),
    ],
)
def test_the_lint_counts_the_known_anomalies(name, expected):
    findings = lint(RELEASED / f"{name}.jsonl", Lint())["findings"]
    talk = {
        "wrapper_quotes",
        "url",
        "personal_data",
        "not_of_moment",
        *(check for check in findings if check.startswith("speaks_of")),
    }
    assert {check: finding["count"] for check, finding in findings.items() if check not in talk} == expected


def test_didemo_intervals_agree_in_every_row_and_thirteen_moments_are_missing():
    coarse, fine = rows_of("didemo", "val", "test"), rows_of("didemo-fig", "val", "test")
    missing = {}
    for split in ("val", "test"):
        originals = {row["desc_id"]: row for row in coarse[split]}
        for row in fine[split]:
            original = originals.pop(row["desc_id"])
            assert all(original[key] == row[key] for key in ("video", "time", "cog_desc")), row["desc_id"]
        missing[split] = len(originals)
    assert missing == {"val": 5, "test": 8}
