"""Readers of published annotation files, on small files in their forms."""

import json

import pytest

from verified.common.errors import InputError
from verified.corpus.released_formats import read_split

CHARADES_CSV = "id,subject,length\nAO8RW,X,33.67\nLEOL6,Y,6.29\n"


def charades(tmp_path, text: str, csv: str = CHARADES_CSV) -> dict:
    (tmp_path / "sta.txt").write_text(text)
    (tmp_path / "v1.csv").write_text(csv)
    return {"charades-sta": tmp_path / "sta.txt", "charades-csv": tmp_path / "v1.csv"}


def document(tmp_path, name: str, value: object) -> dict:
    (tmp_path / "file.json").write_text(json.dumps(value))
    return {name: tmp_path / "file.json"}


def test_charades_sta_lines_with_lengths_and_swapped_intervals(tmp_path):
    rows = read_split(
        charades(tmp_path, "AO8RW 0.0 6.9##a person puts a book##shelf.\nLEOL6 8.0 7.0##a person sits.\n"), 5
    )
    assert rows == [
        {
            "video": "AO8RW",
            "time": [0.0, 6.9],
            "desc_id": 5,
            "duration": 33.67,
            "cog_desc": "a person puts a book##shelf.",
        },
        {"video": "LEOL6", "time": [7.0, 8.0], "desc_id": 6, "duration": 6.29, "cog_desc": "a person sits."},
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "AO8RW 0.0 6.9 a person sits.\n",
            r"sta\.txt, row 1: not a Charades-STA line .expected: VIDEO START END##caption",
        ),
        ("AO8RW 0.0 6.9##ok\nAO8RW 0.0\n", r"row 2: not a Charades-STA line"),
        ("AO8RW 0.0 x##a person sits.\n", r"row 1: 'x' is not a number of seconds"),
        ("AO8RW 0.0 nan##a person sits.\n", r"row 1: 'nan' is not a number"),
        ("ZZZZZ 0.0 1.0##a person sits.\n", r"row 1: video 'ZZZZZ' is not in the Charades csv"),
        ("<html>\n", r"a web page"),
    ],
)
def test_bad_charades_lines(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        read_split(charades(tmp_path, text))


def test_a_charades_csv_without_lengths(tmp_path):
    with pytest.raises(InputError, match=r"v1\.csv, row 1: the columns 'id' and 'length' are missing"):
        read_split(charades(tmp_path, "AO8RW 0.0 6.9##a\n", csv="id,subject\nAO8RW,X\n"))


def test_activitynet_captions_lose_outer_blanks_and_reversed_spans(tmp_path):
    videos = {
        "v_a": {"duration": 82.73, "timestamps": [[0.83, 19.86], [60.81, 17.37]], "sentences": ["One.", " Two. "]},
        "v_b": {"duration": 10, "timestamps": [[0, 2]], "sentences": ["Three."]},
    }
    rows = read_split(document(tmp_path, "activitynet-captions", videos), first_id=100)
    assert [(row["desc_id"], row["time"], row["cog_desc"]) for row in rows] == [
        (100, [0.83, 19.86], "One."),
        (101, [17.37, 60.81], "Two."),
        (102, [0, 2], "Three."),
    ]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([], "expected an object of videos"),
        ({"v": {"duration": 1, "timestamps": []}}, "video 'v': missing key 'sentences'"),
        ({"v": {"duration": "1", "timestamps": [], "sentences": []}}, "have the wrong type"),
        ({"v": {"duration": 1, "timestamps": [[0, 1]], "sentences": []}}, "1 timestamps for 0 sentences"),
        ({"v": {"duration": 1, "timestamps": [[0]], "sentences": ["a"]}}, r"timestamp \[0\] is not"),
        ({"v": {"duration": 1, "timestamps": [[0, 1]], "sentences": [" "]}}, "a sentence is empty"),
    ],
)
def test_bad_activitynet_captions(tmp_path, value, message):
    with pytest.raises(InputError, match=r"file\.json: .*" + message):
        read_split(document(tmp_path, "activitynet-captions", value))


def didemo(**changes) -> dict:
    row = {
        "video": "12@N0_34_ab.c.mov",
        "description": "a bug",
        "times": [[4, 4], [0, 0], [0, 1], [0, 1], [4, 4]],
        "annotation_id": 3,
        "num_segments": 6,
    }
    return {key: value for key, value in {**row, **changes}.items() if value is not None}


def test_didemo_takes_the_most_frequent_interval_and_the_first_on_ties(tmp_path):
    rows = read_split(document(tmp_path, "didemo", [didemo(), didemo(annotation_id=4, times=[[1, 1], [0, 2], [0, 2]])]))
    assert rows[0] == {
        "video": "12@N0_34_ab.c",
        "time": [20, 25],
        "desc_id": 3,
        "duration": 30.0,
        "cog_desc": "a bug",
        "annotator_times": [[20, 25], [0, 5], [0, 10], [0, 10], [20, 25]],
    }
    assert rows[1]["time"] == [0, 15]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({}, "expected a list of annotations"),
        ([didemo(times=None)], "annotation 1: missing key 'times'"),
        ([didemo(times=[])], "annotation 1: 'times' must be a list"),
        ([didemo(times=[[1]])], "annotation 1: 'times' must be a list"),
        ([didemo(description="")], "annotation 1: 'description' is empty"),
        ([didemo(), didemo()], "annotation 2: annotation_id 3 occurs twice"),
        ([didemo(video=5)], "annotation 1: 'video'"),
        ([didemo(num_segments="6")], "annotation 1: 'num_segments'"),
        ([didemo(annotation_id="3")], "annotation 1: 'annotation_id'"),
    ],
)
def test_bad_didemo_annotations(tmp_path, value, message):
    with pytest.raises(InputError, match=r"file\.json: " + message):
        read_split(document(tmp_path, "didemo", value))


def test_truncated_json_is_named(tmp_path):
    (tmp_path / "file.json").write_text('[{"video": "a')
    with pytest.raises(InputError, match=r"file\.json: not a JSON document"):
        read_split({"didemo": tmp_path / "file.json"})


def test_another_encoding_is_named(tmp_path):
    files = charades(tmp_path, "")
    files["charades-sta"].write_bytes("AO8RW 0.0 6.9##café\n".encode("latin-1"))
    with pytest.raises(InputError, match=r"sta\.txt: not UTF-8"):
        read_split(files)
