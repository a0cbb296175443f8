"""Readers of published annotation files, on small files in their forms."""

import json

from verified.released.formats import read_split


def document(tmp_path, name: str, value: object) -> dict:
    (tmp_path / "file.json").write_text(json.dumps(value))
    return {name: tmp_path / "file.json"}


def test_charades_sta_lines_with_lengths_and_swapped_intervals(tmp_path):
    (tmp_path / "sta.txt").write_text("AO8RW 0.0 6.9##a person puts a book##shelf.\nLEOL6 8.0 7.0##a person sits.\n")
    (tmp_path / "v1.csv").write_text("id,subject,length\nAO8RW,X,33.67\nLEOL6,Y,6.29\n")
    rows = read_split({"charades-sta": tmp_path / "sta.txt", "charades-csv": tmp_path / "v1.csv"}, 5)
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
