"""Video features: clips, pooling, batches over videos, the linked file, and the demo's backbone."""

import h5py
import numpy as np
import pytest
from feature_settings import video_features
from media import counted, write_video

from verified.features.files import link_video_features
from verified.features.video import encode_videos, write_video_features
from verified.io.hdf5 import FeatureFile
from verified.io.video import file_digest, iterate_frames
from verified.runtime.wildcards import rows_of_shard, shard_names

SETTINGS = video_features("small-resnet", batch=7)
CLIP_SECONDS = 1.5
SIDES = {"width": 64, "height": 64}


class Brightness:
    """A backbone whose feature is the frame's mean and its negative, so that pooling can be read off."""

    size, dim, crop = 16, 2, False

    def __call__(self, frames):
        mean = frames.reshape(len(frames), -1).mean(1)
        return np.stack([mean, -mean], 1).astype(np.float32)


@pytest.fixture(scope="module")
def videos(tmp_path_factory):
    folder = tmp_path_factory.mktemp("videos")
    rows = []
    for number, length in enumerate([16, 21, 5, 40]):
        path = write_video(folder / f"v{number}.mp4", counted(length))
        row = {"video": f"v{number}", "path": str(path), "sha256": file_digest(path), "duration": length / 8}
        rows.append(row | SIDES)
    return rows


@pytest.mark.parametrize("batch", [1, 3, 64])
def test_clips_are_maxima_over_their_frames(videos, batch):
    encoded = dict(encode_videos(videos, Brightness(), 4.0, CLIP_SECONDS, batch, {}))
    assert {video: len(clips) for video, clips in encoded.items()} == {"v0": 2, "v1": 2, "v2": 1, "v3": 4}
    for row in videos:
        frames = [frame.mean() for _, frame in iterate_frames(row["path"], fps=4, size=16)]
        for clip, feature in enumerate(encoded[row["video"]]):
            of_clip = frames[clip * 6 : clip * 6 + 6]
            assert feature == pytest.approx([max(of_clip), -min(of_clip)], abs=1e-3)


def test_shards_and_one_file_of_links(videos, tmp_path):
    (tmp_path / "videos.jsonl").write_text("{}\n")
    write_video_features(videos, SETTINGS, CLIP_SECONDS, tmp_path / "whole.h5")
    whole = FeatureFile(tmp_path / "whole.h5")
    shards = []
    for name in shard_names(3):
        shards.append(tmp_path / "video" / f"{name}.h5")
        write_video_features(rows_of_shard(videos, name, 3), SETTINGS, CLIP_SECONDS, shards[-1])
    assert link_video_features(shards, tmp_path / "videos.jsonl", tmp_path / "video.h5") == 4
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    for moved_name in ("video", "video.h5"):
        (tmp_path / moved_name).rename(moved / moved_name)
    linked = FeatureFile(moved / "video.h5")
    assert list(linked) == [row["video"] for row in videos] == linked.keys()
    for row in videos:
        assert linked[row["video"]].dtype == np.float32
        assert np.array_equal(linked[row["video"]], whole[row["video"]]), "whatever else is in its shard"
        assert linked.length(row["video"]) == int(np.ceil(row["duration"] / CLIP_SECONDS))
    attributes = linked.attributes
    assert (
        attributes["backbone"] == "small-resnet"
        and attributes["fps"] == 4
        and attributes["clip_seconds"] == CLIP_SECONDS
    )
    assert attributes["dim"] == linked.dim == 192 and attributes["source_sha256"] == file_digest(
        tmp_path / "videos.jsonl"
    )
    linked.close()
    with h5py.File(moved / "video.h5") as file:
        assert file["v1"].dtype == np.float16 and file["v1"].attrs["sha256"] == videos[1]["sha256"]


def test_unreadable_videos_are_counted_and_the_rest_is_whole(videos, tmp_path):
    broken = tmp_path / "broken.mp4"
    broken.write_bytes(b"not a video at all" * 100)
    rows = [
        videos[0],
        {"video": "broken", "path": str(broken), "sha256": "", **SIDES},
        videos[2],
        {"video": "gone", "path": str(tmp_path / "gone.mp4"), "sha256": "", **SIDES},
    ]
    counts = write_video_features(rows, SETTINGS, 1.0, tmp_path / "v.h5")
    assert counts == {"ok": 2, "not-a-video": 1, "missing-file": 1}
    assert FeatureFile(tmp_path / "v.h5").keys() == ["v0", "v2"]
