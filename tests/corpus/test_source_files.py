"""The rules of the stage read the source that the config names."""

import pytest

from verified.config import load
from verified.corpus.shards import folder_state, next_start
from verified.corpus.source_files import split_settings


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


def test_a_replaced_video_is_noticed(settings, tmp_path):
    def state(name):
        next_start()
        return folder_state(settings.datasets[name].source)

    assert state("world") is None
    seen = {state("mine")}
    (tmp_path / "notes.txt").write_text("no video")
    assert state("mine") in seen
    for data in (b"one", b"three"):
        (tmp_path / "a.mp4").write_bytes(data)
        assert state("mine") not in seen
        seen.add(state("mine"))


def test_retrieval_settings_do_not_reach_the_corpus(settings):
    values = split_settings(settings, "mine")
    assert values["held_out_share"] == 0.2
    assert set(values) == {"held_out_share", "train_split", "selection_split", "test_split"}
