"""The state of each shard at a start: computed from rows and samples once, and afterwards from times and sizes."""

import json
import os
from pathlib import Path

import pytest

from verified.config.sources import FolderSource
from verified.corpus import shards, video_folder
from verified.corpus.shards import folder_state, paths_of_shard, rows_by_shard, shard_state, videos_state
from verified.corpus.video_folder import file_state
from verified.runtime.wildcards import shard_names, shard_of

SHARDS = 4


def name(number):
    return f"{'b/' * (number % 12 == 11)}v{number % 12}"


@pytest.fixture
def source(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "videos" / "b").mkdir(parents=True)
    (tmp_path / ".snakemake").mkdir()
    for number in range(12):
        path = tmp_path / "videos" / f"{name(number)}.mp4"
        path.write_bytes(b"x" * (100 + number))
        os.utime(path, (1, 1))
    return FolderSource(kind="folder", videos="videos", moments="moments.jsonl")


def written(rows):
    with open("moments.jsonl", "w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


def row(number, **changes):
    return {"video": name(number), "start": 0, "end": 1, "caption": f"a dog {number}", **changes}


def states():
    return rows_by_shard("videos", "moments.jsonl", SHARDS)


def changed(before, after):
    return [shard for shard, (old, new) in enumerate(zip(before, after)) if old != new]


def test_one_shard_changes_with_a_row_and_none_with_a_split(source):
    rows = [row(number, desc_id=number, split="train") for number in range(24)]
    written(rows)
    before = states()
    assert sum(len(paths) for _, paths in before) == 12
    written([*rows[:-1], {**rows[-1], "caption": "a cat"}])
    assert len(changed(before, states())) == 1
    written([{**line, "split": "test"} for line in rows])
    assert states() == before
    written([row(99, video="nowhere", desc_id=99), *rows])
    assert states() == before, "a row without its video is nobody's"


def test_ids_that_others_decide_change_every_shard_that_they_touch(source):
    rows = [row(number) for number in range(24)]
    written(rows)
    before = states()
    written([row(99, video="nowhere"), *rows])
    assert len(changed(before, states())) == SHARDS, "all positions, and so all ids, have moved"
    rows = [row(number, desc_id=number) for number in range(24)]
    written(rows)
    before = states()
    written([row(99, video="nowhere", desc_id=10), *rows])
    assert changed(before, states()) == [shard_of("v10", SHARDS)] == [0], "the row whose id was used before is left out"


def next_start():
    for name in ("list_videos", "_folder_now", "video_states", "_paths_by_shard", "_shard_states", "_scene_states"):
        getattr(shards, name).cache_clear()


def states_of_shards():
    """What a start tells of each shard and of the folder; the next start is another process."""
    next_start()
    source = FolderSource(kind="folder", videos="videos", moments="moments.jsonl")
    return [shard_state(source, shard, SHARDS) for shard in shard_names(SHARDS)], folder_state(source)


def test_a_replaced_video_changes_the_state_of_its_shard_alone(source):
    def told():
        next_start()
        return [videos_state("videos", shard, SHARDS) for shard in shard_names(SHARDS)]

    before = told()
    Path("videos/v3.mp4").write_bytes(b"y" * 103)
    assert changed(before, told()) == [shard_of("v3", SHARDS)]
    divided = [paths_of_shard(source, shard, SHARDS) for shard in shard_names(SHARDS)]
    assert sum(map(len, divided)) == 12 and "videos/b/v11.mp4" in divided[shard_of("b/v11", SHARDS)]


def test_a_second_start_reads_neither_rows_nor_videos(source, monkeypatch):
    monkeypatch.setattr(video_folder, "SETTLED_NS", -1)
    written([row(number, desc_id=number) for number in range(24)])
    first, folder = states_of_shards()
    sampled = []
    with monkeypatch.context() as second:
        second.setattr(shards, "_rows", lambda path: pytest.fail("rows read again"))
        second.setattr(shards, "VideoFolder", lambda *_, **__: pytest.fail("names matched again"))
        second.setattr(shards, "file_state", lambda path: pytest.fail("sampled again"))
        assert states_of_shards() == (first, folder)

    monkeypatch.setattr(shards, "file_state", lambda path: sampled.append(path) or file_state(path))
    Path("videos/v3.mp4").write_bytes(b"y" * 103)
    again, another = states_of_shards()
    assert sampled == ["videos/v3.mp4"] and another != folder
    assert changed(first, again) == [shard_of("v3", SHARDS)]
    written([row(number, desc_id=number) for number in range(23)])
    assert changed(again, states_of_shards()[0]) == [shard_of("b/v11", SHARDS)]
