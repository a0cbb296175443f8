"""Captions of two runs side by side: moments that both have, words, classes, recall and its gain."""

import numpy as np
import pytest
from given import fig
from refusals import said

from verified.__main__ import main
from verified.benchmark.vcmr.results import write_per_query
from verified.config.model import Statistics
from verified.io.fig import write_fig
from verified_lab.caption_comparison import compare_retrieval, compare_texts, comparison_table, read_release, shared

COUNT = 24


def run(folder, captions, shift=0, gain=0.0):
    """A run with `captions` (of the number of a moment), whose desc_ids begin at `shift`, and two trainings of XML."""
    rows = [
        fig(n + 1 + shift, f"v{n // 3}", float(n), n + 2.0, duration=90.0, cog_desc="a man walks", fig_desc=captions(n))
        for n in range(COUNT)
    ]
    (folder / "annotations" / "fig").mkdir(parents=True)
    write_fig(folder / "annotations" / "fig" / "test.jsonl", rows)
    ids, videos = np.array([row["desc_id"] for row in rows]), [row["video"] for row in rows]
    for trained, hits in (("cog", 0.25), ("fig", 0.25 + gain)):
        for seed in (1, 2):
            place = folder / "retrieval" / "xml" / trained / f"seed-{seed}" / "fig"
            place.mkdir(parents=True)
            values = (np.arange(COUNT) % 4 < 4 * hits).astype(float)
            write_per_query(place / "per_query.npz", ids, videos, {"VR/r1": values, "other": values})
    return folder


def test_moments_are_found_by_what_they_are_and_measured_on_both(tmp_path):
    """In a run whose captions differ, and one that is moved in its ids, says "she" and one thing for all."""
    differing = run(tmp_path / "first", lambda n: f"a man in red walks {'left' if n % 2 else 'right'} {n}", gain=0.5)
    moved = run(tmp_path / "second", lambda n: "a woman walks", shift=100, gain=0.25)
    first, second = map(read_release, (differing, moved))
    moments = shared(first, second)
    assert len(moments.first) == COUNT and moments.second[0]["desc_id"] == 101 and moments.left_out == 0
    texts = compare_texts(moments, lambda texts: np.eye(COUNT + 1)[list(map(texts.index, texts))], Statistics())
    compared = [*texts, *compare_retrieval(first, second, moments)]
    table = comparison_table(compared, ("first", "second"), moments.left_out)
    rows = {row[0]: row for row in table.rows}
    assert rows["words"][2:4] == (7, 3) and rows["words"][6:] == (COUNT, 0)
    assert rows["many-to-many %"][2:4] == (0, 100)
    assert rows["XML VR r1"][2:4] == (75, 50)
    assert rows["XML VR r1, gain over coarse"][2:4] == pytest.approx((50, 25))
    gap = rows["XML VR r1, gain over coarse"][4]
    assert gap.value == pytest.approx(25) and gap.low < 25 < gap.high and gap.trainings == 2
    assert "other" not in {row[0] for row in table.rows}
    write_fig(tmp_path / "test.jsonl", [fig(1, fig_desc="the first"), fig(2, fig_desc="the same moment")])
    assert [row["fig_desc"] for row in read_release(tmp_path).rows.values()] == ["the first"]


def test_the_command_writes_a_table(tmp_path, capsys):
    runs = [str(run(tmp_path / name, lambda number, name=name: f"it moves {name} {number}")) for name in ("a", "b")]
    command = ["compare-captions", *runs, "--names", "A", "B", "--output", str(tmp_path / "out")]
    assert main(command) == 0
    assert "A minus B" in capsys.readouterr().out and (tmp_path / "out" / "captions-compared.csv").is_file()
    for more, named in ((["--names", "A", "A"], "name"), (["--split", "val"], "a")):
        assert main([*command, *more]) == 2
        said(capsys.readouterr().err, named, remedy=True)
