"""Candidates as parquet, counts, and the dataset card."""

import pyarrow.parquet
from candidate_rows import moment_row, score_row
from given import coarse_only

from verified.annotations.export import count, generation_facts, origins, write_candidates
from verified.annotations.selection import candidates_by_moment
from verified.annotations.splits import annotation_files, annotation_splits, missing_splits
from verified.config import load

MOMENTS = [moment_row(i, split=split) for i, split in enumerate(["train", "train", "test", "other"])]
SCORES = [score_row(i, kind, k, float(k)) for i in (0, 2) for kind in ("statics", "dynamics") for k in range(3)]
SAID = {"chosen_by": "confidence", "warning": "Not to be trusted."}
FACTS = {"model": "writer@abc", "image_model": "looker", "video_model": "watcher"}
FACTS |= {"prompts": "mine", "prompts_sha256": "0f"}
STATICS = [
    {
        "desc_id": i,
        "reason": None,
        "keyframes": [
            {"time": 0.5, "foreground": "a ball", "description": "a ball"},
            {"time": 1.5, "foreground": "", "description": ""},
            {"time": 2.25, "foreground": "a box", "description": ""},
        ],
    }
    for i in (0, 2)
]
DYNAMICS = [{"desc_id": i, "reason": "short", "frames": 20, "thinned": True} for i in (0, 2)]
ORIGIN = origins(STATICS, DYNAMICS, FACTS)


def test_the_table_holds_every_candidate_with_its_lineage(tmp_path):
    path = tmp_path / "candidates.parquet"
    write_candidates(path, MOMENTS, candidates_by_moment(MOMENTS, SCORES), ORIGIN, SAID)
    read = pyarrow.parquet.read_table(path)
    assert read.schema.metadata[b"verified.chosen_by"] == b"confidence"
    assert read.schema.metadata[b"verified.warning"] == b"Not to be trusted."
    table = read.to_pylist()
    assert all(row["choice"] == row["score"] for row in table)
    assert len(table) == len(SCORES)
    assert {row["lineage"] for row in table} == {"abc"}
    assert [(row["type"], row["candidate"]) for row in table if row["highest"]] == [("statics", 2)] * 2
    assert [(row["type"], row["candidate"]) for row in table if row["lowest"]] == [("dynamics", 0)] * 2
    assert all(row["model"] == "writer@abc" and row["prompts_sha256"] == "0f" for row in table)
    seen = {
        row["type"]: [row[name] for name in ("seen_by", "frames", "frame_times", "thinned", "outcome")] for row in table
    }
    assert seen["statics"] == ["looker", 2, [0.5, 2.25], False, "ok"]
    assert seen["dynamics"] == ["watcher", 20, None, True, "short"]


def test_counts_take_the_type_of_the_caption_that_was_selected():
    groups = candidates_by_moment(MOMENTS, SCORES)
    assert count(MOMENTS, groups, ("train", "test"))["splits"]["test"]["statics"] == 1
    counts = count(MOMENTS, groups, ("train", "test"), {0: "coarse", 2: "dynamics"}, {0: "rejected"})
    assert counts["splits"]["test"] == {"moments": 1, "annotated": 1, "statics": 0, "dynamics": 1}
    assert counts["splits"]["train"] == {"moments": 2, "annotated": 0, "statics": 0, "dynamics": 0}
    assert counts["without"] == {"no-scored-candidate": 1, "rejected": 1, "split-not-annotated": 1}


def test_the_origin_names_the_model_of_each_role():
    roles = {
        role: {"engine": "openai", "model": name, "revision": "r" * (name == "b")}
        for role, name in zip(("llm", "image_lmm", "video_lmm"), "abc")
    }
    source = {"title": "Mine", "source": {"kind": "demo"}}
    facts = generation_facts(load({"name": "mine", "datasets": {"mine": source}, "generation": roles}))
    assert [facts[name] for name in ("model", "image_model", "video_model")] == ["a", "b@r", "c"]


def test_each_split_has_its_file_and_a_coarse_release_its_folder(tmp_path):
    values = coarse_only(tmp_path)
    values["datasets"]["mine"]["source"]["splits"] = ["train", "val", "test"]
    coarse = load(values)
    assert missing_splits(coarse, "mine") == ["test"]
    assert [file.rpartition("annotations/")[2] for file in annotation_files(coarse, "mine")] == [
        "cog/train.jsonl",
        "cog/val.jsonl",
    ]
    spans = {"train_split": "learn", "selection_split": "choose", "test_split": "exam"}
    own = {"name": "own", "datasets": {"own": {"title": "Own", "source": {"kind": "demo"}, "spans": spans}}}
    assert annotation_splits(load(own), "own") == ["learn", "choose", "exam"]
