"""Further exports are read back: by the library of its field where there is one, else by this project's readers."""

import csv
import io
import json
import tarfile

import pytest
from export.test_export_forms import ABOUT, HOSTILE, ROWS, SPLITS, annotation, written
from PIL import Image

from verified.__main__ import main
from verified.benchmark.vcmr.data import read_moments
from verified.config.datasets import Keyframes
from verified.demo.source import write_video
from verified.export.collection import COLUMNS, collect
from verified.io.jsonl import read_json, read_jsonl, write_jsonl
from verified.io.video import probe
from verified.keyframes.extract import write_keyframes
from verified.released.formats import read_split
from verified_field.window_rows import read_window_queries


@pytest.fixture(scope="module")
def collection():
    return collect(ROWS, SPLITS, ABOUT)


def test_webdataset_reads_the_shards(collection, tmp_path):
    webdataset = pytest.importorskip("webdataset", reason="the library webdataset is not installed")
    folder = written("webdataset", tmp_path / "set", collection, shard_captions=3)
    shards = sorted(str(path) for path in folder.glob("train-*.tar"))
    assert len(shards) == 2 and not list(folder.glob("test-*.tar"))
    samples = list(webdataset.WebDataset(shards, shardshuffle=False, empty_check=False).decode())
    assert [sample["json"] for sample in samples] == collection.splits["train"]
    assert samples[0]["txt"] == HOSTILE and set(samples[0]) >= {"__key__", "json", "txt"} and "mp4" not in samples[0]


def test_clips_and_keyframes_are_in_the_shards_where_media_are_asked_for(tmp_path):
    import numpy as np

    frames = np.random.default_rng(0).integers(0, 255, (16, 48, 64, 3), dtype=np.uint8)
    write_video(tmp_path / "v.mp4", frames, 8)
    moments = [{"desc_id": 1, "video": "v", "start": 0.25, "end": 1.25}]
    videos = [{"video": "v", "path": str(tmp_path / "v.mp4")}]
    keys = Keyframes(segments=2, min_scene_seconds=0.5)
    write_keyframes(moments, videos, keys, tmp_path / "shard-00.tar")
    collection = collect([annotation(1, "test", "v", 0.25, 1.25, "noise")], ("test",), ABOUT)
    write_jsonl(tmp_path / "videos.jsonl", videos)
    media = {"videos": [tmp_path / "videos.jsonl"], "keyframes": [tmp_path / "shard-00.tar"]}
    folder = written("webdataset", tmp_path / "set", collection, clip_side=64, **media)
    with tarfile.open(folder / "test-000000.tar") as archive:
        files = {name: archive.extractfile(name).read() for name in archive.getnames()}
    (tmp_path / "clip.mp4").write_bytes(files["000000000001.mp4"])
    assert probe(tmp_path / "clip.mp4")["frames"] == 8
    assert Image.open(io.BytesIO(files["000000000001.keyframe-0.jpg"])).size == (64, 48)
    assert "`mp4`" in (folder / "README.md").read_text(encoding="utf-8")


def test_csv_is_read_back_with_every_number(collection, tmp_path):
    folder = written("csv", tmp_path, collection)
    with (folder / "train.csv").open(encoding="utf-8", newline="") as file:
        rows = [
            {name: None if value == "" else COLUMNS[name](value) for name, value in row.items()}
            for row in csv.DictReader(file)
        ]
    assert rows == collection.splits["train"]


def test_qvhighlights_form_has_all_windows_of_a_query_and_what_its_codes_learn_saliency_from(tmp_path):
    """Videos have 9.75 s, four clips to the evaluator; the last window is after these."""
    rows = [annotation(4, "train", "v", 1.5, 4.0, "one"), annotation(9, "train", "w", 2.0, 3.0, "two")]
    rows[1]["windows"] = [[2.0, 3.0], [0.5, 1.25]]
    rows.append(annotation(11, "train", "w", 8.25, 9.5, "three"))
    folder = written("qvhighlights", tmp_path, collect(rows, ("train",), ABOUT))
    back = read_split({"qvhighlights": folder / "train.jsonl"})
    assert [(row["desc_id"], row["time"], row.get("windows")) for row in back] == [
        (4, [1.5, 4.0], None),
        (9, [2.0, 3.0], [[2.0, 3.0], [0.5, 1.25]]),
        (11, [8.25, 9.5], None),
    ]
    graded = read_window_queries(folder / "train.jsonl")
    expected = [[1, 4, 0, 0], [2, 2, 0, 0], [0, 0, 0, 3]]
    assert [query.saliency.T.tolist() for query in graded] == [[grades] * 3 for grades in expected]
    assert [row["relevant_clip_ids"] for row in read_jsonl(folder / "train.jsonl")] == [[0, 1], [0, 1], [3]]


def test_fiftyone_s_labels_are_those_of_its_documentation(collection, tmp_path):
    folder = written("fiftyone", tmp_path, collection)
    (video, moments), *others = read_json(folder / "train.json")["labels"].items()
    assert (video, others) == ("a b/50%", []) and [one["attributes"]["caption_id"] for one in moments] == [7, 3, 8, 9]
    assert moments[0] == {"label": HOSTILE, "timestamps": [0.1, 2.3000000000000003], "attributes": {"caption_id": 7}}
    assert read_json(folder / "held-out.json")["labels"]["clip-2"][0]["timestamps"] == [0, 9.75]


def test_tvr_s_form_is_the_ground_truth_of_the_evaluator(collection, tmp_path, capsys):
    folder = written("tvr", tmp_path, collection)
    index = read_json(folder / "video2dur_idx.json")
    numbers = {video: number for split in index.values() for video, (_, number) in split.items()}
    truth = read_jsonl(folder / "train.jsonl")
    vcmr = [
        {"desc_id": row["desc_id"], "desc": row["desc"], "predictions": [[numbers[row["vid_name"]], *row["ts"], 1.0]]}
        for row in truth
    ]
    video2idx = {split: {video: number for video, (_, number) in videos.items()} for split, videos in index.items()}
    (tmp_path / "found.json").write_text(json.dumps({"video2idx": video2idx["train"], "VCMR": vcmr}))
    assert main(["evaluate", str(folder / "train.jsonl"), str(tmp_path / "found.json"), "--json"]) == 0
    assert "100.0" in capsys.readouterr().out
    assert [row["desc_id"] for row in truth] == [7, 3, 8, 9]


def test_tvr_s_numbers_of_videos_are_those_of_a_run_s_submissions(tmp_path):
    train, test = [annotation(5, "train", "u", 1.5, 4.0, "one")], [annotation(4, "test", "w", 2.0, 3.0, "two")]
    test.append(annotation(9, "test", "v", 1.0, 4.5, "three"))
    folder = written("tvr", tmp_path, collect(train + test, ("train", "test"), ABOUT))
    write_jsonl(tmp_path / "test.jsonl", test)
    videos = read_moments(tmp_path / "test.jsonl", "fig").videos
    numbers = {video: number for video, (_, number) in read_json(folder / "video2dur_idx.json")["test"].items()}
    assert numbers == {video: number for number, video in enumerate(videos)} == {"v": 0, "w": 1}


def test_activitynet_captions_form_is_read_back(collection, tmp_path):
    path = written("activitynet-captions", tmp_path, collection) / "train.json"
    rows = read_split({"activitynet-captions": path})
    assert [(row["video"], row["time"], row["cog_desc"]) for row in rows] == [
        (row["video"], [row["start"], row["end"]], row["fig_desc"]) for row in collection.splits["train"]
    ]
    assert json.loads(path.read_text(encoding="utf-8"))["a b/50%"]["caption_ids"] == [7, 3, 8, 9]
