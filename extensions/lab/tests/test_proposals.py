"""Videos without moments: a first caption of each scene from the models, and a file that people correct."""

import csv

from corpus.test_splits import rendered  # noqa: F401
from refusals import refused
from whole_corpus import read_folder

from verified.config import load
from verified.extension import extensions
from verified.lmm.prompts import read_prompts
from verified.lmm.session import Session
from verified.lmm.tasks import structured_form
from verified.lmm.thoughts import separate
from verified.planning import stages
from verified_lab.proposals import write_proposals
from verified_lab.scene_captions import COARSE_CAPTION, caption_scenes, read_caption
from verified_lab.stage import PROPOSALS

SPLITS = {"train_split": "train", "selection_split": "val", "test_split": "test"}
SHARES = {"train_share": 0.5, "val_share": 0.25}


def test_scenes_are_captioned_and_become_a_moments_file_that_the_corpus_reads(rendered, tmp_path, monkeypatch):  # noqa: F811
    folder, _, scenes = rendered
    monkeypatch.chdir(tmp_path)
    settings = load({"datasets": {"x": {"title": "X", "source": {"kind": "demo"}}}})
    dynamics = {"fps": 8.0, "frames": None, "max_frames": 64}
    with Session(settings.generation, 1, (COARSE_CAPTION,)) as session:
        rows = caption_scenes(scenes, dynamics, session)
        (counts,) = session.outcome_counts().values()
        assert counts["calls"] == len(rows) == sum(len(row["scenes"]) for row in scenes)
    assert sum(row["caption"] is not None for row in rows) > 0.8 * len(rows) and all(row["lineage"] for row in rows)
    with Session(settings.generation, 1, (COARSE_CAPTION,)) as session:  # all in the ledger: no video is opened again
        moved = [{**row, "path": "gone"} for row in scenes]
        assert caption_scenes(moved, dynamics, session) == rows

    rows[0] |= {"caption": None, "reason": "blocked: filter"}
    counts = write_proposals(tmp_path / "moments.csv", rows, SHARES, SPLITS, 1)
    assert counts["moments"] == len(rows) and counts["without_caption"] == sum(not row["caption"] for row in rows)
    again = write_proposals(tmp_path / "again.csv", reversed(rows), SHARES, SPLITS, 1)
    assert (tmp_path / "moments.csv").read_bytes() == (tmp_path / "again.csv").read_bytes() and again == counts
    with (tmp_path / "moments.csv").open(encoding="utf-8", newline="") as file:
        listed = list(csv.DictReader(file))
    assert listed == sorted(listed, key=lambda row: (row["video"], float(row["start"])))
    by_split = {name: {row["video"] for row in listed if row["split"] == name} for name in ("train", "val", "test")}
    assert all(by_split.values()) and sum(map(len, by_split.values())) == counts["videos"]
    assert not by_split["train"] & by_split["val"] and not by_split["train"] & by_split["test"]

    corpus = read_folder(folder / "videos", tmp_path / "moments.csv", "test")
    assert len(corpus.moments) == len(rows) - counts["without_caption"]
    assert corpus.counts["excluded_rows"] == {"missing-field": counts["without_caption"]}
    assert "broken" in {row["video"] for row in corpus.exclusions}


def test_the_caption_of_most_scenes_and_non_answers_are_left_out_and_counted(tmp_path):
    said = ["a dog runs", "a cat sits", "a man", "a man", "a man", "a man", "a man", None]
    rows = [{"video": f"v{n}", "start": 0.0, "end": 1.0, "caption": caption} for n, caption in enumerate(said)]
    counts = write_proposals(tmp_path / "moments.csv", rows, SHARES, SPLITS, 1)
    assert (counts["same_caption"], counts["without_caption"]) == (5, 6)
    with (tmp_path / "moments.csv").open(encoding="utf-8", newline="") as file:
        assert [row["caption"] for row in csv.DictReader(file) if row["caption"]] == said[:2]
    assert read_caption({}, "I do not know.", 1, False).refused[0]["reason"] == "no-answer"
    assert read_caption({}, "a dog runs and th", 1, True).missing == 1, "cut at the token limit"
    answer = separate("Okay, the user wants one sentence about the video.\n</think>\n\na man opens a door").answer
    assert read_caption({}, answer, 1, False).items == ("a man opens a door",)


def test_the_task_has_its_prompt_and_an_example_of_its_form():
    assert read_prompts("config/prompts", [COARSE_CAPTION])
    schema, ending = structured_form(COARSE_CAPTION, 1)
    assert all(f'"{name}"' in ending for name in schema["required"])
    assert COARSE_CAPTION.example(1, "0123456789abcdef").usable


def test_moments_that_no_stage_writes_are_the_users_to_give(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "videos").mkdir()
    settings = load({"name": "x", "datasets": {"x": {"title": "X", "source": {"kind": "folder", "videos": "videos"}}}})
    stages.check_supplied(settings)
    others = [stage for extension in extensions() for stage in extension.stages() if stage != PROPOSALS]
    monkeypatch.setattr(stages, "added_stages", lambda: others)
    with refused("datasets.x.source.moments", "proposed.csv", remedy=True):
        stages.check_supplied(settings)
