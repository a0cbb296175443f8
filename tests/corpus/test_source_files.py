"""The rules of the stage read the source that the config names."""

from types import SimpleNamespace

import pytest

from verified.config import load
from verified.config.folders import dataset_pattern, datasets_with
from verified.corpus.shard_states import next_start
from verified.corpus.source_files import folder_state, source_files, split_settings


@pytest.fixture
def settings(tmp_path):
    folder = {"kind": "folder", "videos": str(tmp_path), "moments": "moments.csv"}
    return load(
        {
            "name": "lab",
            "datasets": {
                "world": {"title": "World", "source": {"kind": "demo"}},
                "mine": {"title": "Mine", "source": folder, "spans": {"held_out_share": 0.2, "nms_threshold": 0.3}},
            },
        }
    )


def test_the_rules_know_their_data_sets(settings):
    assert datasets_with(settings, "rendered") == ["world"]
    assert datasets_with(settings, "annotated_here", "has_videos") == ["world", "mine"]
    assert dataset_pattern(settings, ["world", "mine"]) == "lab/world|lab/mine"
    assert dataset_pattern(settings, datasets_with(settings, "annotations_given")) == "(?!)"


def test_sources_are_found_by_kind(settings, tmp_path):
    files = source_files(settings)
    assert files(SimpleNamespace(dataset="lab/mine")) == {"videos": str(tmp_path), "moments": "moments.csv"}
    assert files(SimpleNamespace(dataset="lab/world"))["videos"] == "results/lab/world/corpus/videos"


def test_a_replaced_video_is_noticed(settings, tmp_path):
    mine = SimpleNamespace(dataset="lab/mine")

    def state(wildcards):
        next_start()
        return folder_state(settings)(wildcards)

    assert state(SimpleNamespace(dataset="lab/world")) is None
    seen = {state(mine)}
    (tmp_path / "notes.txt").write_text("no video")
    assert state(mine) in seen
    for data in (b"one", b"three"):
        (tmp_path / "a.mp4").write_bytes(data)
        assert state(mine) not in seen
        seen.add(state(mine))


def test_retrieval_settings_do_not_reach_the_corpus(settings):
    values = split_settings(settings)(SimpleNamespace(dataset="lab/mine"))
    assert values["held_out_share"] == 0.2
    assert set(values) == {"held_out_share", "train_split", "selection_split", "test_split"}
