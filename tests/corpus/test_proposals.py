"""Videos without moments: scenes of wanted lengths, a first caption from the models, a file that people correct."""

import csv
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from whole_corpus import read_folder

from verified.config import load
from verified.config.datasets import Proposals
from verified.corpus.proposals import write_proposals
from verified.corpus.scene_captions import caption_scenes
from verified.corpus.scenes import detect_scenes, scene_spans
from verified.demo.source import render_demo
from verified.io.jsonl import read_jsonl
from verified.lmm.session import Session
from verified.lmm.tasks.coarse_caption import COARSE_CAPTION, read_caption
from verified.statistics.validity import proposed_recall

LENGTHS = Proposals(threshold=27.0, min_seconds=2.0, max_seconds=20.0)
SPLITS = {"train_split": "train", "selection_split": "val", "test_split": "test"}
SHARES = {"train_share": 0.5, "val_share": 0.25}


def spans(cuts, duration, shortest=2.0, longest=20.0):
    """Spans of a video of four frames a second with hard cuts at these seconds."""
    times = (np.arange(int(duration * 4)) / 4).tolist()
    return scene_spans(times, [100.0 if time in cuts else 0.0 for time in times], duration, 27.0, shortest, longest)


def test_a_short_scene_joins_its_shorter_neighbour_and_a_long_one_is_cut_into_equal_parts():
    assert spans([4.0, 5.0], 7.5) == [(0.0, 4.0), (4.0, 7.5)]
    assert spans([3.0, 4.0], 10.0) == [(0.0, 4.0), (4.0, 10.0)]
    assert spans([30.0], 39.0) == [(0.0, 15.0), (15.0, 30.0), (30.0, 39.0)]
    assert spans([], 1.0) == [(0.0, 1.0)]  # nothing is left to join


@given(st.lists(st.integers(1, 239), max_size=30), st.floats(0, 8), st.floats(8, 30))
def test_scenes_tile_the_video_within_their_lengths(cuts, shortest, longest):
    scenes = spans({cut / 4 for cut in cuts}, 60.0, shortest, longest)
    assert scenes[0][0] == 0 and scenes[-1][1] == 60 and all(one[1] == two[0] for one, two in pairwise(scenes))
    lengths = [end - start for start, end in scenes]
    assert max(lengths) <= longest + 2e-3 and (min(lengths) >= min(shortest, longest / 2) - 2e-3)


@pytest.fixture(scope="module")
def rendered(tmp_path_factory):
    """Four rendered videos, one unreadable file, the truth, and the rows of their scenes."""
    folder = tmp_path_factory.mktemp("bare")
    source = {"videos": 6, "seconds": 8, "fps": 8, "size": 112, "train_share": 0.5, "val_share": 0.3}
    render_demo(source, 3, folder / "videos", folder / "rendered.jsonl", folder / "truth.jsonl")
    (folder / "videos" / "broken.mp4").write_bytes(b"no video")
    paths = {path.stem: path for path in sorted((folder / "videos").glob("*.mp4"))}
    return folder, read_jsonl(folder / "truth.jsonl"), detect_scenes(paths, LENGTHS)


def test_scenes_meet_some_of_the_true_events_and_an_unreadable_video_has_its_reason(rendered):
    _, truth, rows = rendered
    (broken,) = [row for row in rows if "reason" in row]
    assert broken["video"] == "broken" and broken["scenes"] == []
    recall = proposed_recall(truth, rows)
    assert 0.3 < recall["value"] < 1 and recall["units"] == sum(len(video["events"]) for video in truth)
    true = [{"video": video["video"], "scenes": [[e["start"], e["end"]] for e in video["events"]]} for video in truth]
    assert proposed_recall(truth, true)["value"] == 1


def test_scenes_are_captioned_and_become_a_moments_file_that_the_corpus_reads(rendered, tmp_path, monkeypatch):
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
