"""Readers of published annotation files, on small files in their forms."""

import json

import pytest
from refusals import refused

from verified.released.formats import read_split

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
    ("text", "row", "named"),
    [
        ("AO8RW 0.0 6.9 a person sits.\n", 1, "START END##caption"),
        ("AO8RW 0.0 6.9##ok\nAO8RW 0.0\n", 2, "START END##caption"),
        ("AO8RW 0.0 x##a person sits.\n", 1, "'x'"),
        ("AO8RW 0.0 nan##a person sits.\n", 1, "'nan'"),
        ("ZZZZZ 0.0 1.0##a person sits.\n", 1, "'ZZZZZ'"),
        ("<html>\n", None, "page"),
    ],
)
def test_bad_charades_lines(tmp_path, text, row, named):
    with refused(named, file="sta.txt", row=row):
        read_split(charades(tmp_path, text))


def test_a_charades_csv_without_lengths(tmp_path):
    with refused("'id'", "'length'", file="v1.csv", row=1):
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
    ("value", "named"),
    [
        ([], ["object"]),
        ({"v": {"duration": 1, "timestamps": []}}, ["'v'", "'sentences'"]),
        ({"v": {"duration": "1", "timestamps": [], "sentences": []}}, ["'v'", "duration", "type"]),
        ({"v": {"duration": 1, "timestamps": [[0, 1]], "sentences": []}}, ["'v'", "1 timestamps", "0 sentences"]),
        ({"v": {"duration": 1, "timestamps": [[0]], "sentences": ["a"]}}, ["'v'", "[0]"]),
        ({"v": {"duration": 1, "timestamps": [[0, 1]], "sentences": [" "]}}, ["'v'", "empty"]),
    ],
)
def test_bad_activitynet_captions(tmp_path, value, named):
    with refused(*named, file="file.json"):
        read_split(document(tmp_path, "activitynet-captions", value))


def test_tacos_frames_become_seconds(tmp_path):
    videos = {
        "s1-d2.avi": {
            "timestamps": [[30, 90], [600, 300]],
            "sentences": ["One.", " Two."],
            "fps": 30,
            "num_frames": 900,
        }
    }
    rows = read_split(document(tmp_path, "tacos", videos), first_id=7)
    assert [tuple(row.values()) for row in rows] == [
        ("s1-d2", [1.0, 3.0], 7, 30.0, "One."),
        ("s1-d2", [10.0, 20.0], 8, 30.0, "Two."),
    ]
    for change in ({"fps": 0}, {"fps": "30"}, {"num_frames": None}, {"sentences": ["One."]}):
        with refused("s1-d2", file="file.json"):
            read_split(document(tmp_path, "tacos", {"s1-d2.avi": {**videos["s1-d2.avi"], **change}}))


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
    ("value", "named"),
    [
        ({}, ["list"]),
        ([didemo(times=None)], ["annotation 1", "missing", "'times'"]),
        ([didemo(times=[])], ["annotation 1", "'times'", "list"]),
        ([didemo(times=[[1]])], ["annotation 1", "'times'", "list"]),
        ([didemo(description="")], ["annotation 1", "'description'"]),
        ([didemo(), didemo()], ["annotation 2", "annotation_id 3"]),
        ([didemo(video=5)], ["annotation 1", "'video'", "5"]),
        ([didemo(num_segments="6")], ["annotation 1", "'num_segments'", "'6'"]),
        ([didemo(annotation_id="3")], ["annotation 1", "'annotation_id'", "'3'"]),
    ],
)
def test_bad_didemo_annotations(tmp_path, value, named):
    with refused(*named, file="file.json"):
        read_split(document(tmp_path, "didemo", value))


def test_truncated_json_is_named(tmp_path):
    (tmp_path / "file.json").write_text('[{"video": "a')
    with refused("JSON", file="file.json"):
        read_split({"didemo": tmp_path / "file.json"})


def test_another_encoding_is_named(tmp_path):
    files = charades(tmp_path, "")
    files["charades-sta"].write_bytes("AO8RW 0.0 6.9##café\n".encode("latin-1"))
    with refused("UTF-8", file="sta.txt", remedy=True):
        read_split(files)
