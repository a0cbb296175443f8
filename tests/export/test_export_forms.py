"""Every export is read back: by the library of its field where there is one, else by this project's own readers."""

import hashlib

import pytest
from given import coarse_only, fig
from refusals import refused

from verified.config import load
from verified.config.model import Export, Statements
from verified.export.collection import Collection, caption_of, collect, without
from verified.export.facts import card_facts, export_facts
from verified.export.forms import FORMS, write_form
from verified.export.hugging_face import split_name
from verified.io.jsonl import read_json, write_jsonl

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


KITCHEN = {"name": "kitchen", "datasets": {"kitchen": {"title": "Kitchen-FIG", "source": {"kind": "demo"}}}}


def annotation(ident: int, split: str, video: str, start: float, end: float, fine: str, **more) -> dict:
    scored = {"fig_desc": fine, "fig_desc_score": -0.1 * ident, "fig_desc_type": "statics", "lineage": f"{ident:064d}"}
    row = fig(ident, video, start, end, duration=9.75, cog_desc=f"coarse {ident}", **scored)
    return {**row, "split": split, **more}


REVIEW = {"decision": "accept", "reviewers": ["ann", "bob"], "when": "2026-01-02T03:04:05Z"}
SECOND = {"fig_desc": "the second best", "fig_desc_score": -3.5, "fig_desc_type": "dynamics", "lineage": "e" * 64}
THIRD = SECOND | {"fig_desc": "the third best", "fig_desc_score": -4.25}
ROWS = [
    annotation(7, "train", "a b/50%", 0.1, 2.3000000000000003, HOSTILE, review=REVIEW),
    annotation(3, "train", "a b/50%", 2.5, 4.0, "a thing turns", further=[SECOND, THIRD], review=REVIEW),
    annotation(5, "held-out", "clip-2", 0, 9.75, "two things meet", further=[SECOND]),
]
SPLITS = ("train", "held-out", "test")


@pytest.fixture(scope="module")
def collection():
    return collect(ROWS, SPLITS, ABOUT)


def written(form, folder, collection, **values):
    """The folder, written with these values in place of those of a configuration's defaults."""
    write_form(form, folder, collection, **FORMS[form].options(load(KITCHEN), "kitchen") | values)
    return folder


def test_cards_name_the_model_of_each_role():
    roles = {
        role: {"engine": "openai", "model": model} for role, model in zip(("llm", "image_lmm", "video_lmm"), "abc")
    }
    models = card_facts(load({**KITCHEN, "generation": roles}), "kitchen")["models"]
    assert list(models.items())[:3] == [("Language model", "a"), ("Image model", "b"), ("Video model", "c")]


def test_each_caption_of_a_moment_gives_a_row_with_a_number_of_its_own(collection):
    rows = collection.splits["train"]
    numbers = [(row["caption_id"], row["desc_id"], row["rank"]) for of in collection.splits.values() for row in of]
    assert numbers == [(7, 7, 1), (3, 3, 1), (8, 3, 2), (9, 3, 3), (5, 5, 1), (10, 5, 2)]
    assert [(row["start"], row["end"], row["duration"]) for row in rows[1:]] == [(2.5, 4.0, 9.75)] * 3
    assert [row["fig_desc_score"] for row in rows[1:]] == [-0.1 * 3, -3.5, -4.25] and caption_of(rows[0]) == HOSTILE
    assert rows[0]["decision"] == "accept" and rows[2]["decision"] is None
    assert collection.counts()["train"] == {"captions": 4, "moments": 2, "videos": 1}
    assert set(Export().forms) <= set(FORMS)


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
    assert all(word in text for word in ("CC-BY-4.0", "some/llm", "0123456789abcdef", "| train | 4 | 2 | 1 |"))
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


def test_croissant_is_valid_and_its_records_are_read_back(collection, tmp_path):
    croissant = pytest.importorskip("mlcroissant", reason="the library mlcroissant is not installed")
    folder = written("hugging-face", tmp_path / "set", collection)
    described = croissant.Dataset(jsonld=str(folder / "croissant.json"))
    metadata = described.metadata
    assert not metadata.ctx.issues.errors and metadata.ctx.is_v1_1()
    assert metadata.data_biases == [STATEMENTS["biases"]] and "one claim" in metadata.data_use_cases[0]
    assert metadata.machine_annotation_tools == ["Language model: some/llm"]
    records = list(described.records(record_set="train"))
    assert len(records) == 4
    for record, row in zip(records, collection.splits["train"]):
        record = {name.removeprefix("train/"): value for name, value in record.items()}
        text = {name: value.decode() for name, value in record.items() if isinstance(value, bytes)}
        assert text["fig_desc"] == row["fig_desc"] and text["video"] == row["video"]
        assert record["caption_id"] == row["caption_id"] and record["end"] == row["end"]


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
    assert described["rai:dataBiases"] == "On biases."
    role, uses = described["rai:dataUseCases"]
    assert uses == "On use_cases." and f"**Evaluative role.** {role}\n" in (folder / "README.md").read_text()
    assert "written by models" in role


def test_findings_take_out_captions_of_their_own_split(tmp_path):
    write_jsonl(tmp_path / "findings.jsonl", [{"split": "train", "id": "3"}, {"split": "test", "id": "7"}])
    assert [row["desc_id"] for row in without(ROWS, [str(tmp_path / "findings.jsonl")])] == [7, 5]


def test_splits_and_licences_have_names_that_the_hub_knows(collection, tmp_path):
    rows = collection.splits["train"]
    licensed = Collection({**ABOUT, "licence": "Ours-1"}, {"val-1": rows, "val_1": []})
    head = (written("hugging-face", tmp_path / "set", licensed) / "README.md").read_text()
    assert "license: other\nlicense_name: Ours-1\n" in head and split_name("tést-1") == "t_st_1"
    with refused("val-1", "val_1"):
        written("hugging-face", tmp_path / "set", Collection(ABOUT, {"val-1": rows, "val_1": rows}))


def test_given_annotations_name_no_models(tmp_path):
    about = export_facts(load(coarse_only(tmp_path)), "mine", "hugging-face")["about"]
    assert about["models"] == {} and about["prompts"] is None
    assert export_facts(load(KITCHEN), "kitchen", "hugging-face")["about"]["models"]
