"""Every export is read back: by the library of its field where there is one, else by this project's own readers."""

import ast
import csv
import hashlib
import importlib.util
import io
import json
import tarfile
from pathlib import Path

import pytest
import yaml
from given import fig
from PIL import Image
from refusals import refused, said

from verified.__main__ import main
from verified.benchmark.tiou import tiou
from verified.config import load
from verified.config.datasets import Keyframes
from verified.config.export import Export, Statements
from verified.config.trust import NOT_TRUSTED
from verified.demo.source import write_video
from verified.export import lmms_eval_task
from verified.export.collection import COLUMNS, Collection, collect
from verified.export.facts import export_facts
from verified.export.forms import FORMS, write_form
from verified.export.media import media_of
from verified.io.jsonl import read_json, read_jsonl
from verified.io.video import probe
from verified.keyframes.archive import KeyframeTars
from verified.keyframes.extract import write_keyframes
from verified.released.formats import read_split

HOSTILE = 'she said "stop", twice; then: ##7.0 <b>ünïcode</b> =1+1, \U0001f600'
STATEMENTS = {"limitations": "Kitchens alone.", "biases": "Three households in one town."}
ABOUT = {
    "statements": STATEMENTS,
    "source": "videos and moments of data set kitchen",
    "title": "Kitchen-FIG",
    "name": "kitchen",
    "licence": "CC-BY-4.0",
    "config": "kitchen",
    "version": "1.2.0",
    "creators": ["A Lab"],
    "url": "https://example.org/kitchen",
    "models": {"Language model": "some/llm"},
    "prompts": {"name": "config/prompts", "sha256": "0123456789abcdef"},
}


def annotation(ident: int, split: str, video: str, start: float, end: float, fine: str, **more) -> dict:
    scored = {"fig_desc": fine, "fig_desc_score": -0.1 * ident, "fig_desc_type": "statics", "lineage": f"{ident:064d}"}
    row = fig(ident, video, start, end, duration=9.75, cog_desc=f"coarse {ident}", **scored)
    return {**row, "split": split, **more}


REVIEW = {"decision": "accept", "reviewers": ["ann", "bob"], "when": "2026-01-02T03:04:05Z"}
SECOND = {"fig_desc": "the second best", "fig_desc_score": -3.5, "fig_desc_type": "dynamics", "lineage": "e" * 64}
ROWS = [
    annotation(7, "train", "a b/50%", 0.1, 2.3000000000000003, HOSTILE, review=REVIEW),
    annotation(3, "train", "a b/50%", 2.5, 4.0, "a thing turns", further=[SECOND]),
    annotation(5, "held-out", "clip-2", 0, 9.75, "two things meet"),
]
SPLITS = ("train", "held-out", "test")


@pytest.fixture(scope="module")
def collection():
    return collect(ROWS, SPLITS, ABOUT)


def written(form, folder, collection, **options):
    write_form(form, folder, collection, options.get("shard_captions", 500), options.get("media"))
    return folder


def test_a_moment_with_two_captions_gives_two_rows_with_numbers_of_their_own(collection):
    rows = collection.splits["train"]
    assert [(row["caption_id"], row["desc_id"], row["rank"]) for row in rows] == [(7, 7, 1), (3, 3, 1), (8, 3, 2)]
    assert rows[0]["decision"] == "accept" and rows[2]["decision"] is None
    assert collection.counts()["train"] == {"captions": 3, "moments": 2, "videos": 1}
    assert set(Export().forms) == set(FORMS)


@pytest.mark.parametrize("form", FORMS)
def test_names_of_reviewers_leave_only_where_that_is_asked_for(form, collection, tmp_path):
    rows = {named: collect(ROWS, SPLITS, ABOUT, named).splits["train"] for named in (False, True)}
    assert rows[False][0]["reviewers"] == "reviewer 1, reviewer 2" and rows[True][0]["reviewers"] == "ann, bob"
    assert rows[False][2]["reviewers"] is None
    written(form, tmp_path / "set", collection)
    files = [path.read_bytes() for path in (tmp_path / "set").rglob("*") if path.is_file()]
    assert not any(b"ann, bob" in content or b'"bob"' in content for content in files)


@pytest.mark.parametrize("form", FORMS)
def test_each_card_names_licence_splits_models_prompts_and_all_checksums(form, collection, tmp_path):
    folder = written(form, tmp_path / form, collection)
    manifest = read_json(folder / "manifest.json")
    assert manifest["licence"] == "CC-BY-4.0" and manifest["models"] == ABOUT["models"]
    assert manifest["prompts"]["sha256"] == "0123456789abcdef" and set(manifest["splits"]) == set(SPLITS)
    listed = {entry["path"]: entry["sha256"] for entry in manifest["files"]}
    there = {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }
    assert there.keys() - listed.keys() == {"README.md", "manifest.json"}
    assert all(there[path] == digest for path, digest in listed.items())
    text = (folder / "README.md").read_text(encoding="utf-8")
    assert all(word in text for word in ("CC-BY-4.0", "some/llm", "0123456789abcdef", "| train | 3 | 2 | 1 |"))
    again = written(form, tmp_path / "again", collection)
    assert all((again / path).read_bytes() == (folder / path).read_bytes() for path in there)


def test_hugging_face_s_library_loads_the_folder(collection, tmp_path, monkeypatch):
    datasets = pytest.importorskip("datasets", reason="the library datasets is not installed")
    folder = written("hugging-face", tmp_path / "set", collection)
    loaded = datasets.load_dataset(str(folder), cache_dir=str(tmp_path / "cache"))
    assert set(loaded) == {"train", "held_out"}  # an empty split has no file
    assert loaded["train"].to_list() == collection.splits["train"]
    assert loaded["held_out"].to_list() == collection.splits["held-out"]
    from huggingface_hub import DatasetCard

    card = DatasetCard.load(folder / "README.md")
    assert card.data.license == "cc-by-4.0" and card.data.pretty_name == "Kitchen-FIG"


def test_nothing_to_export_is_said_and_runs_nothing(tmp_path, capsys):
    values = {"datasets": {"demo": {"title": "D", "source": {"kind": "demo"}}}, "export": {"forms": []}}
    (tmp_path / "c.yaml").write_text(json.dumps(values))
    assert main(["export", "--configfile", str(tmp_path / "c.yaml")]) == 2
    said(capsys.readouterr().err, "--form", remedy=True)


def test_splits_of_one_name_do_not_overwrite_each_other(tmp_path):
    rows = [annotation(1, "val-1", "a", 0, 1, "x"), annotation(2, "val_1", "b", 0, 1, "y")]
    with refused("splits"):
        written("hugging-face", tmp_path, collect(rows, ("val-1", "val_1"), ABOUT))


def test_croissant_is_valid_and_its_records_are_read_back(collection, tmp_path):
    croissant = pytest.importorskip("mlcroissant", reason="the library mlcroissant is not installed")
    folder = written("hugging-face", tmp_path / "set", collection)
    described = croissant.Dataset(jsonld=str(folder / "croissant.json"))
    metadata = described.metadata
    assert not metadata.ctx.issues.errors and metadata.ctx.is_v1_1()
    assert metadata.data_biases == [STATEMENTS["biases"]] and "one claim" in metadata.data_use_cases[0]
    assert metadata.machine_annotation_tools == ["Language model: some/llm"]
    records = list(described.records(record_set="train"))
    assert len(records) == 3
    for record, row in zip(records, collection.splits["train"]):
        record = {name.removeprefix("train/"): value for name, value in record.items()}
        text = {name: value.decode() for name, value in record.items() if isinstance(value, bytes)}
        assert text["fig_desc"] == row["fig_desc"] and text["video"] == row["video"]
        assert record["caption_id"] == row["caption_id"] and record["end"] == row["end"]


def test_statements_stand_on_the_card_and_what_nobody_said_is_nowhere(collection, tmp_path):
    folder = written("hugging-face", tmp_path / "set", collection)
    card, described = (folder / "README.md").read_text(), read_json(folder / "croissant.json")
    assert f"**Biases.** {STATEMENTS['biases']}" in card and "Social impact" not in card
    assert read_json(folder / "manifest.json")["statements"] == STATEMENTS
    assert described["rai:hasSyntheticData"] is True and described["rai:dataLimitations"] == STATEMENTS["limitations"]
    assert described["prov:wasDerivedFrom"]["name"] == ABOUT["source"] and "rai:dataSocialImpact" not in described
    given = Collection({**ABOUT, "models": {}, "statements": {}}, collection.splits)
    described = read_json(written("hugging-face", tmp_path / "given", given) / "croissant.json")
    assert [key for key in described if key.startswith("rai:")] == ["rai:dataUseCases"]
    assert "models" not in described["rai:dataUseCases"][0]


def test_the_export_has_the_minimal_properties_for_responsible_ai(collection, tmp_path):
    """Those that the Evaluations and Datasets track of NeurIPS 2026 requires beside the core of Croissant."""
    statements = {key: f"On {key}." for key in Statements.model_fields}
    stated = Collection({**ABOUT, "statements": statements}, collection.splits)
    folder = written("hugging-face", tmp_path / "set", stated)
    described = read_json(folder / "croissant.json")
    core = {"name", "description", "conformsTo", "license", "url", "creator", "version", "distribution", "recordSet"}
    responsible = {
        *("rai:dataLimitations", "rai:dataBiases", "rai:personalSensitiveInformation", "rai:dataUseCases"),
        *("rai:dataSocialImpact", "rai:hasSyntheticData", "prov:wasDerivedFrom", "prov:wasGeneratedBy"),
    }
    assert core | responsible <= described.keys() and all(described[key] for key in core | responsible)
    role, uses = described["rai:dataUseCases"]
    assert uses == "On use_cases." and f"**Evaluative role.** {role}\n" in (folder / "README.md").read_text()
    assert "written by models" in role


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
    with KeyframeTars([tmp_path / "shard-00.tar"]) as keyframes:
        folder = written("webdataset", tmp_path / "set", collection, media=media_of(videos, keyframes, 64))
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
    from verified.__main__ import main

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


def test_charades_sta_form_is_read_back(collection, tmp_path):
    folder = written("charades-sta", tmp_path, collection)
    rows = read_split({"charades-sta": folder / "train.txt", "charades-csv": folder / "train.csv"})
    assert [(row["video"], row["time"], row["duration"], row["cog_desc"]) for row in rows] == [
        ("a%20b/50%25", [row["start"], row["end"]], 9.75, row["fig_desc"]) for row in collection.splits["train"]
    ]


def test_coarse_captions_alone_are_exported_as_such(tmp_path):
    row = annotation(1, "train", "v", 0, 1, "x")
    coarse = {key: row[key] for key in ("video", "time", "desc_id", "duration", "cog_desc", "split")}
    collection = collect([coarse], ("train",), ABOUT | {"models": {}, "prompts": None})
    assert read_jsonl(written("tvr", tmp_path / "tvr", collection) / "train.jsonl")[0]["desc"] == "coarse 1"
    for form in FORMS:
        assert "Prompts" not in (written(form, tmp_path / form, collection) / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("form", FORMS)
def test_every_form_says_that_confidences_of_the_shipped_evaluator_are_not_to_be_trusted(form, tmp_path):
    """No checkpoint is imported: the evaluator starts from the weights that come with the workflow."""
    moments = tmp_path / "m.csv"
    moments.write_text("video,start,end,caption,split\na,0,1,a dog runs,train\n")
    source = {"kind": "folder", "videos": str(tmp_path), "moments": str(moments)}
    settings = load({"name": "kitchen", "datasets": {"kitchen": {"title": "Kitchen-FIG", "source": source}}})
    facts = export_facts(settings, "kitchen", form)
    folder = written(form, tmp_path, collect(ROWS, SPLITS, facts["about"]))
    assert read_json(folder / "manifest.json")["warning"] == NOT_TRUSTED
    cards = [*folder.glob("README.md"), *folder.glob("croissant.json")]
    assert cards and all(NOT_TRUSTED in path.read_text(encoding="utf-8") for path in cards)
    trusted = written(form, tmp_path / "trusted", collect(ROWS, SPLITS, ABOUT))
    assert not any("trusted" in path.read_text(encoding="utf-8") for path in trusted.glob("*.md"))
