"""Further exports are read back: by the library of its field where there is one, else by this project's readers."""

import ast
import csv
import importlib.util
import io
import json
import tarfile
from pathlib import Path

import pytest
import yaml
from export.test_export_forms import ABOUT, HOSTILE, ROWS, SPLITS, annotation, written
from PIL import Image

from verified.__main__ import main
from verified.benchmark.tiou import tiou
from verified.config.datasets import Keyframes
from verified.demo.source import write_video
from verified.export.collection import COLUMNS, collect
from verified.io.jsonl import read_json, read_jsonl, write_jsonl
from verified.io.video import probe
from verified.keyframes.extract import write_keyframes
from verified.released.formats import read_split
from verified_field.exports import lmms_eval_task


@pytest.fixture(scope="module")
def collection():
    return collect(ROWS, SPLITS, ABOUT)


def test_webdataset_reads_the_shards(collection, tmp_path):
    webdataset = pytest.importorskip("webdataset", reason="the library webdataset is not installed")
    folder = written("webdataset", tmp_path / "set", collection, shard_captions=2)
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
    assert [row["desc_id"] for row in truth] == [7, 3, 8]


def test_mteb_s_parts_are_loaded_and_each_query_has_its_document(tmp_path):
    datasets = pytest.importorskip("datasets", reason="the library datasets is not installed")
    rows = [*ROWS, annotation(9, "train", "c", 0, 1, "the fine one", cog_desc="coarse 3")]
    folder = written("mteb", tmp_path / "set", collect(rows, SPLITS, ABOUT))
    assert set(datasets.get_dataset_config_names(str(folder))) == {"corpus", "queries", "qrels"}
    corpus, queries, qrels = (
        datasets.load_dataset(str(folder), part, split="train", cache_dir=str(tmp_path / "cache")).to_list()
        for part in ("corpus", "queries", "qrels")
    )
    documents = {row["_id"]: row["text"] for row in corpus}
    assert len(queries) == 4 and len(documents) == len(set(documents.values())) == 2
    told = {query["text"]: documents[row["corpus-id"]] for query, row in zip(queries, qrels, strict=True)}
    assert [row["query-id"] for row in qrels] == [row["_id"] for row in queries]
    assert told == {
        HOSTILE: "coarse 7",
        "a thing turns": "coarse 3",
        "the second best": "coarse 3",
        "the fine one": "coarse 3",
    }
    task = ast.parse((folder / "task.py").read_text(encoding="utf-8"))
    (described,) = [
        node for node in ast.walk(task) if isinstance(node, ast.Call) and ast.unparse(node.func) == "TaskMetadata"
    ]
    values = {word.arg: word.value for word in described.keywords}
    assert ast.literal_eval(values["eval_splits"]) == ["train", "held_out"]
    assert ast.literal_eval(values["name"]) == "KitchenFIGRetrieval"


class TaskYaml(yaml.SafeLoader):
    """Reads !function as lmms-eval does: a file beside the YAML, and a name in it."""


def _function(loader, node):
    file, name = loader.construct_scalar(node).split(".")
    spec = importlib.util.spec_from_file_location(file, Path(loader.name).parent / f"{file}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)


TaskYaml.add_constructor("!function", _function)


def test_lmms_eval_s_task_asks_and_scores(collection, tmp_path, monkeypatch):
    datasets = pytest.importorskip("datasets", reason="the library datasets is not installed")
    folder = written("lmms-eval", tmp_path / "set", collection)
    assert sorted(path.name for path in folder.glob("*.yaml")) == ["kitchen_held_out.yaml", "kitchen_train.yaml"]
    with (folder / "kitchen_train.yaml").open(encoding="utf-8") as file:
        task = yaml.load(file, TaskYaml)
    monkeypatch.chdir(folder)
    loaded = datasets.load_dataset(task["dataset_path"], **task["dataset_kwargs"], cache_dir=str(tmp_path / "cache"))
    docs = loaded[task["test_split"]].to_list()
    assert [doc["id"] for doc in docs] == [7, 3, 8]
    asked = task["doc_to_text"](docs[0], task["lmms_eval_specific_kwargs"]["default"])
    assert HOSTILE in asked and "9.75 seconds" in asked and "{" not in asked
    (tmp_path / "videos" / "a b").mkdir(parents=True)
    (tmp_path / "videos" / "a b" / "50%.mkv").touch()
    monkeypatch.setenv("VERIFIED_VIDEOS", str(tmp_path / "videos"))
    assert task["doc_to_visual"](docs[0]) == [str(tmp_path / "videos" / "a b" / "50%.mkv")]
    with pytest.raises(FileNotFoundError, match="VERIFIED_VIDEOS"):
        task["doc_to_visual"]({"video": "none"})
    measured = [task["process_results"](doc, [task["doc_to_target"](doc)]) for doc in docs]
    for measure in task["metric_list"]:
        assert measure["aggregation"]([values[measure["metric"]] for values in measured]) == pytest.approx(100)


@pytest.mark.parametrize(
    ("answer", "span"),
    [
        ("12.5 - 20.0", (12.5, 20.0)),
        ("The event happens from 3 to 7 seconds.", (3.0, 7.0)),
        ("from 0:12 to 1:05.5", (12.0, 65.5)),
        ("1:00:01–1:00:02", (3601.0, 3602.0)),
        ("it ends at 9 and starts at 4", (4.0, 9.0)),
        ("at 5 seconds", None),
        ("", None),
    ],
)
def test_two_times_are_found_in_an_answer(answer, span):
    assert lmms_eval_task.times(answer) == span


def test_an_exported_task_measures_tiou_as_the_benchmarks_do():
    doc = {"start": 2.0, "end": 6.0}
    for span in ((2.0, 6.0), (0.0, 3.0), (5.0, 9.0), (6.0, 8.0), (3.0, 3.0)):
        assert lmms_eval_task.overlap(doc, span) == pytest.approx(float(tiou(2.0, 6.0, *span)))
    assert lmms_eval_task.score(doc, ["no idea"])["mIoU"] == 0


def test_activitynet_captions_form_is_read_back(collection, tmp_path):
    path = written("activitynet-captions", tmp_path, collection) / "train.json"
    rows = read_split({"activitynet-captions": path})
    assert [(row["video"], row["time"], row["cog_desc"]) for row in rows] == [
        (row["video"], [row["start"], row["end"]], row["fig_desc"]) for row in collection.splits["train"]
    ]
    assert json.loads(path.read_text(encoding="utf-8"))["a b/50%"]["caption_ids"] == [7, 3, 8]
