"""Scenes of videos, of wanted lengths."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from verified.config.datasets import Proposals
from verified.corpus.scenes import detect_scenes, scene_spans
from verified.demo.source import render_demo
from verified.io.jsonl import read_jsonl
from verified.statistics.validity import proposed_recall

LENGTHS = Proposals(threshold=27.0, min_seconds=2.0, max_seconds=20.0)


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
