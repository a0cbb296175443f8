"""FIG JSON Lines: round trips, and every way a file can be wrong."""

import json
import logging

import pytest
from given import fig
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused

from verified.io.characters import hidden
from verified.io.fig import FIG_KEYS, read_fig, read_splits, write_fig

SAID = {"cog_desc": "person turns a light on.", "fig_desc": "A person in a red shirt turns a light on \u2192 off."}
ROW = fig(7, "3MSZA", 24.3, 30.4, duration=30.96, **SAID, fig_desc_score=0.391357421875)


def written(tmp_path, *lines: str, ending: str = "\n", encoding: str = "utf-8"):
    path = tmp_path / "test.jsonl"
    path.write_bytes("".join(line + ending for line in lines).encode(encoding))
    return path


def line(**changes) -> str:
    return json.dumps({**ROW, **changes})


def test_reading_and_writing_keeps_the_bytes(tmp_path):
    path = written(tmp_path, line(), line(desc_id=8, time=[5, 5], fig_desc_score=-1, cog_desc="é\n "))
    write_fig(tmp_path / "copy.jsonl", read_fig(path))
    assert (tmp_path / "copy.jsonl").read_bytes() == path.read_bytes()


captions = st.text(min_size=1).filter(lambda text: text.strip() and not hidden(text))
numbers = st.one_of(st.integers(0, 10**6), st.floats(allow_nan=False, allow_infinity=False))


@given(
    st.lists(
        st.builds(
            lambda video, time, duration, coarse, fine, score: dict(
                zip(FIG_KEYS, (video, list(time), 0, duration, coarse, fine, score))
            ),
            captions,
            st.tuples(numbers, numbers).map(sorted),
            numbers,
            captions,
            captions,
            numbers,
        ),
        max_size=5,
    )
)
def test_any_rows_survive_the_round_trip(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("fig") / "rows.jsonl"
    rows = [{**row, "desc_id": index} for index, row in enumerate(rows)]
    write_fig(path, rows)
    assert read_fig(path) == rows and all(tuple(row) == FIG_KEYS for row in read_fig(path))


@pytest.mark.parametrize(
    ("second_line", "named"),
    [
        (json.dumps({key: value for key, value in ROW.items() if key != "duration"}), "'duration'"),
        (line(desc_id=8, duration="30.96"), "'30.96'"),
        (line(desc_id=8, fig_desc_score=float("nan")), "'fig_desc_score'"),
        (line(desc_id=8, time=[1.0]), "'time'"),
        (line(desc_id=8, time=[1.0, 2.0, 3.0]), "'time'"),
        (line(desc_id=8, time=["1", "2"]), "'time'"),
        (line(desc_id=8, time=[20.9, 12.0]), "[20.9, 12.0]"),
        (line(desc_id="8"), "'desc_id'"),
        (line(desc_id=True), "'desc_id'"),
        (line(desc_id=8, fig_desc="  "), "'fig_desc'"),
        (line(desc_id=8, fig_desc_type="both"), "'fig_desc_type'"),
        (line(), "'desc_id' 7"),
    ],
)
def test_a_bad_row_is_named_with_its_key(tmp_path, second_line, named):
    with refused(named, file="test.jsonl", row=2):
        read_fig(written(tmp_path, line(), second_line))


@pytest.mark.parametrize(("ending", "encoding", "said"), [("\r\n", "utf-8", "CRLF"), ("\n", "utf-8-sig", "byte order")])
def test_windows_files_are_read_and_it_is_said(tmp_path, caplog, monkeypatch, ending, encoding, said):
    monkeypatch.setattr(logging.getLogger("verified"), "propagate", True)
    assert read_fig(written(tmp_path, line(), ending=ending, encoding=encoding)) == [ROW]
    assert said in caplog.text


def test_splits_are_joined_and_ids_unique_over_them(tmp_path):
    write_fig(tmp_path / "train.jsonl", [ROW])
    write_fig(tmp_path / "val.jsonl", [])
    write_fig(tmp_path / "test.jsonl", [{**ROW, "desc_id": 9, "split": "val"}])
    paths = [tmp_path / f"{split}.jsonl" for split in ("train", "val", "test")]
    assert [(row["desc_id"], row["split"]) for row in read_splits(paths)] == [(7, "train"), (9, "test")]
    write_fig(tmp_path / "test.jsonl", [ROW])
    with refused("test.jsonl", "'desc_id' 7", "train.jsonl", remedy=True):
        read_splits(paths)
