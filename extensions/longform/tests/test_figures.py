"""Figures 1, 2 and 7 and the row of LSMDC16: what they show of small data sets, and what they say without one."""

import xml.etree.ElementTree as ElementTree

from refusals import refused

from verified.benchmark.published import read_published
from verified.runtime.project import PROJECT
from verified_longform.annotations import count_clips
from verified_longform.figures import count_diversity, draw_diversity
from verified_longform.tables import splits_table

METADATA = "movie,year,genres\na,1994,Drama; Crime\nb,,Drama\nc,2004,\nz,1950,War\n"


def _said(path) -> str:
    """The words of a figure: outlines have theirs in a comment."""
    ElementTree.parse(path)
    return path.read_text()


def test_genres_and_decades_are_those_of_the_movies_asked_for(tmp_path):
    (tmp_path / "m.csv").write_text(METADATA)
    counts = count_diversity(tmp_path / "m.csv", ["a", "b", "c", "d"])
    assert counts == {
        "movies": 4,
        "unknown": 1,
        "genres": {"Drama": 2, "Crime": 1},
        "decades": {1990: 1, 2000: 1},
    }
    draw_diversity([("Mine $x$", counts)], [tmp_path / "f.svg"])
    assert all(f"<!-- {word}" in _said(tmp_path / "f.svg") for word in ("Drama", "Crime", "1990s", "2000s", "Mine"))


def test_lsmdc16_is_counted_beside_its_published_row(tmp_path):
    clip = "0001_A_Film_00.00.51.926-00.00.54.129\t00.00.51.926\t00.00.54.129\t0\t0\tSOMEONE sleeps.\n"
    (tmp_path / "train.csv").write_text(clip + clip.replace("51", "52") + clip.replace("0001_A", "0002_B"))
    counts = count_clips({"train": tmp_path / "train.csv"})
    assert counts == {"train": {"videos": 2, "queries": 3}}
    published = read_published(PROJECT / "config" / "published.csv", "mad")
    mine = {
        "title": "Mine",
        "kind": "movies",
        "comparable": False,
        "splits": {split: {"videos": 1, "queries": 2} for split in ("train", "val", "test")},
    }
    ours, printed = splits_table([mine], published, counts).rows[1:]
    assert ours == ("LSMDC16", "this run", "2", None, None, "3", None, None)
    assert printed == ("LSMDC16", "published", "155", "12", "17", "101.1K", "7.4K", "10.1K")
    assert [row[0] for row in splits_table([mine], published).rows] == ["Mine"]
    assert "LSMDC16" in [row[0] for row in splits_table([{**mine, "comparable": True}], published).rows]
    (tmp_path / "train.csv").write_text(clip + "clip,start\n")
    with refused(file="train.csv", row=2, remedy=True):
        count_clips({"train": tmp_path / "train.csv"})
