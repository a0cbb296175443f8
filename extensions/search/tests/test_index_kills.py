"""A change of an index that is killed at any write, rename or removal is finished by repeating it, byte for byte."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from kill_points import finished_by_repeating

from verified.io.video import VideoError
from verified_search.folder import index_videos
from verified_search.store import read_manifest
from verified_search.survey import Survey

pytestmark = pytest.mark.night


@pytest.mark.parametrize("earlier", [False, True], ids=["anew", "brought up to date"])
def test_a_killed_index_of_a_folder_is_finished_by_repeating_it(tmp_path, monkeypatch, earlier):
    """Of two videos and one that cannot be read; then one is gone and another came."""
    draw = np.random.default_rng(0)
    clips = {name: draw.normal(size=(3, 1280)).astype(np.float32) for name in ("a.mp4", "b.mp4", "c.mp4")}

    def look(path, backbone):
        if path.name not in clips:
            raise VideoError("no-frames", path, "no frames")
        return Survey(6.0, [(0.0, 6.0)], [clips[path.name]], [(0.0, b"\xff\xd8picture")], "", 0, 6.0)

    monkeypatch.setattr("verified_search.folder.survey", look)
    monkeypatch.setattr("verified_search.folder.load_backbone", lambda name: object())
    start, place = tmp_path / "start", tmp_path / "place"
    (start / "videos").mkdir(parents=True)
    for name in ("a.mp4", "b.mp4", "broken.mp4"):
        (start / "videos" / name).write_bytes(name.encode())
    shutil.copytree(start, place)
    index_videos(place / "videos", place / "index")  # which also loads the encoder that all children use
    if earlier:
        shutil.copytree(place / "index", start / "index")
        (start / "videos" / "a.mp4").unlink()
        (start / "videos" / "c.mp4").write_bytes(b"c")
    kills = finished_by_repeating(start, place, lambda: index_videos(Path("videos"), Path("index")))
    assert kills > 20 and read_manifest(place / "index")["videos"] == 2
