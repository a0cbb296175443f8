"""Broken and unusual media: each is a usable prefix or a named exclusion; none hangs, none takes a shard with it."""

import io
import json
import os
import struct
import tarfile

import av
import numpy as np
import pytest
from feature_settings import video_features
from media import counted, number_of, write_video
from PIL import Image

from verified.config.datasets import Keyframes
from verified.features.video import write_video_features
from verified.io.hdf5 import FeatureFile
from verified.io.video import VideoError, frames_of_spans, iterate_frames, probe, read_frames
from verified.keyframes.extract import write_keyframes

pytestmark = pytest.mark.timeout(300)
LENGTH = 64
SECONDS = 8.0


def textured(count):
    """Numbered images with enough detail that packets have a size worth damaging."""
    random = np.random.default_rng(1)
    for image in counted(count, (96, 128)):
        yield np.clip(image + random.integers(-20, 21, image.shape), 0, 255).astype(np.uint8)


def faststart(path, **how):
    return write_video(path, textured(LENGTH), 8, gop=8, options={"movflags": "faststart"}, **how)


def truncated_before_the_index(path):
    write_video(path, textured(LENGTH), 8)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def truncated_after_the_index(path):
    path.write_bytes(faststart(path).read_bytes()[: path.stat().st_size * 6 // 10])


def truncated_matroska(path):
    write_video(path.with_suffix(".mkv"), textured(LENGTH), 8).rename(path)
    path.write_bytes(path.read_bytes()[: path.stat().st_size * 6 // 10])


def random_bytes_behind_a_header(path):
    data = faststart(path).read_bytes()
    start = data.index(b"mdat") + 4
    path.write_bytes(data[:start] + np.random.default_rng(0).bytes(len(data) - start))


def corrupt_packets(path):
    data = bytearray(faststart(path).read_bytes())
    start = data.index(b"mdat") + 4
    random = np.random.default_rng(2)
    for at in random.integers(start + (len(data) - start) // 2, len(data) - 40, 30):
        data[at : at + 24] = random.bytes(24)
    path.write_bytes(bytes(data))


def hole_of_zeros(path):
    data = bytearray(faststart(path).read_bytes())
    middle = len(data) // 2
    data[middle : middle + 4000] = bytes(4000)
    path.write_bytes(bytes(data))


def audio_only(path):
    with av.open(str(path), "w") as container:
        _add_sound(container)


def sound_with_a_cover_picture(path):
    """An MP3 file with an ID3 tag that holds a picture, which demuxers show as a video stream."""
    with av.open(str(path), "w", format="mp3") as container:
        _add_sound(container, "libmp3lame")
    picture = io.BytesIO()
    Image.new("RGB", (32, 32)).save(picture, "PNG")
    body = b"\0image/png\0\x03\0" + picture.getvalue()
    frame = b"APIC" + struct.pack(">I", len(body)) + b"\0\0" + body
    size = bytes(len(frame) >> shift & 0x7F for shift in (21, 14, 7, 0))
    path.write_bytes(b"ID3\x03\0\0" + size + frame + path.read_bytes())


def _add_sound(container, codec="aac"):
    stream = container.add_stream(codec, rate=16000)
    for start in range(0, 16000, 1024):
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 1024), np.float32), format="fltp", layout="mono")
        frame.sample_rate, frame.pts = 16000, start
        container.mux(stream.encode(frame))
    container.mux(stream.encode())


def timestamps_that_jump_back(path):
    half = path.with_suffix(".ts")
    write_video(half, textured(LENGTH // 2), 8)
    path.write_bytes(half.read_bytes() * 2)
    half.unlink()


def duration_wrong_by_minutes(path):
    data = bytearray(write_video(path, textured(LENGTH), 8).read_bytes())
    for box, offset in ((b"mvhd", 16), (b"mdhd", 16), (b"tkhd", 20)):
        at = data.index(box) + 4 + offset
        struct.pack_into(">I", data, at, struct.unpack_from(">I", data, at)[0] * 60)
    path.write_bytes(bytes(data))


def a_picture(path):
    frame = av.VideoFrame.from_ndarray(counted(2)[1], format="rgb24")
    frame.to_image().save(path, "PNG")


def an_unknown_codec(path):
    path.write_bytes(faststart(path).read_bytes().replace(b"avc1", b"zzzz"))


WRITTEN = {
    "empty": ("empty-file", b""),
    "random_bytes": ("not-a-video", np.random.default_rng(0).bytes(50_000)),
    "a_text": ("not-a-video", b"ffconcat version 1.0\nfile /etc/hostname\n" * 20),
    "a_playlist": ("not-a-video", b"#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\nhttp://127.0.0.1:9/a.ts\n"),
    "a_web_page": ("not-a-video", b"<!DOCTYPE html><html><body>Video unavailable</body></html>"),
    "a_drawing": ("no-decoder", b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect/></svg>'),
}
"""Reason and content of files that are no videos."""
UNUSABLE = {
    truncated_before_the_index: "not-a-video",
    random_bytes_behind_a_header: "no-frames",
    audio_only: "no-video-stream",
    sound_with_a_cover_picture: "no-video-stream",
    an_unknown_codec: "no-decoder",
    os.mkfifo: "not-a-file",
    os.mkdir: "not-a-file",
}
PARTIAL = [truncated_after_the_index, truncated_matroska, corrupt_packets, hole_of_zeros]
PICTURES = [*textured(LENGTH)]
RENAMED = {
    "missing_timestamps": ("h264", PICTURES, {}),  # a bare stream: there is no container to hold times
    "transport_stream": ("ts", PICTURES, {}),
    "variable_rate": ("mp4", PICTURES, {"times": np.cumsum(np.random.default_rng(4).uniform(0.02, 0.3, LENGTH))}),
    "ten_bit_four_two_two": ("mkv", PICTURES, {"codec": "ffv1", "pixels": "yuv422p10le"}),
    "odd_size": ("mkv", counted(LENGTH, (35, 61)), {"codec": "ffv1", "pixels": "yuv444p"}),
    "one_frame": ("mp4", counted(1), {}),
}
"""Kind of file, images and options of videos that get the name of an MP4 file."""
MADE = [timestamps_that_jump_back, duration_wrong_by_minutes, a_picture]
WHOLE = [*RENAMED, *(make.__name__ for make in MADE)]
REASONS = {name: reason for name, (reason, _) in WRITTEN.items()} | {"gone": "missing-file"}
REASONS |= {make.__name__: reason for make, reason in UNUSABLE.items()}


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    folder = tmp_path_factory.mktemp("media")
    paths = {name: folder / f"{name}.mp4" for name in [*REASONS, *(make.__name__ for make in PARTIAL), *WHOLE]}
    for name, (_, content) in WRITTEN.items():
        paths[name].write_bytes(content)
    for name, (ending, images, options) in RENAMED.items():
        write_video(paths[name].with_suffix(f".{ending}"), images, 8, **options).rename(paths[name])
    for make in [*UNUSABLE, *PARTIAL, *MADE]:
        make(paths[make.__name__])
    return paths


@pytest.mark.parametrize("name", REASONS)
def test_unusable_media_have_a_reason(collection, name):
    for read in (probe, lambda path: next(iterate_frames(path)), lambda path: read_frames(path, [0.0, 3.0])):
        with pytest.raises(VideoError) as caught:
            read(collection[name])
        assert caught.value.reason == REASONS[name]
        assert str(collection[name]) in str(caught.value) and caught.value.detail


@pytest.mark.parametrize("make", PARTIAL, ids=lambda make: make.__name__)
def test_damaged_media_are_used_as_far_as_they_go(collection, make):
    path = collection[make.__name__]
    described = probe(path)
    assert described["state"] == "partial"
    assert 20 <= described["frames"] <= LENGTH
    assert 2.5 <= described["duration"] <= SECONDS + 0.3
    sound = [number_of(frame) for time, frame in iterate_frames(path) if time < 2.5]
    assert np.abs(np.array(sound) - np.arange(20)).max() <= 1
    [(_, frames, times)] = frames_of_spans(path, [(0.0, SECONDS)], count=16)
    assert len(frames) == 16 and times[-1] < described["duration"]


@pytest.mark.parametrize("name", WHOLE)
def test_unusual_media_are_read_whole(collection, name):
    path = collection[name]
    described = probe(path)
    assert described["state"] == "whole"
    assert described["frames"] == (1 if name in ("one_frame", "a_picture") else LENGTH)
    numbers = [number_of(frame) for _, frame in iterate_frames(path)]
    if name == "timestamps_that_jump_back":
        assert np.abs(np.array(numbers) - np.tile(np.arange(LENGTH // 2), 2)).max() <= 1
    elif name != "a_picture":
        assert np.abs(np.array(numbers) - np.arange(len(numbers))).max() <= 1
    times = [time for time, _ in iterate_frames(path)]
    assert times[0] == 0 and all(np.diff(times) > 0)
    assert described["duration"] > times[-1]
    if name not in ("variable_rate", "missing_timestamps", "one_frame", "a_picture"):
        assert described["duration"] == pytest.approx(SECONDS, abs=0.3)


def test_the_whole_collection_in_one_shard(collection, tmp_path):
    """Every moment and every video of a shard full of broken media is accounted for."""
    videos, moments = [], []
    for number, (name, path) in enumerate(collection.items()):
        videos.append({"video": name, "path": str(path), "sha256": "", "width": 64, "height": 48})
        for later, (start, end) in enumerate([(0.0, 0.1), (100.0, 200.0)]):
            moments.append({"desc_id": 2 * number + later, "video": name, "start": start, "end": end})
    settings = Keyframes()
    counts = write_keyframes(moments, videos, settings, tmp_path / "k.tar")
    assert sum(counts.values()) == len(moments)
    usable = len(PARTIAL) + len(WHOLE)
    assert counts["ok"] == counts["past-the-end"] == usable
    for reason in set(REASONS.values()):
        assert counts[reason] == 2 * list(REASONS.values()).count(reason)
    with tarfile.open(tmp_path / "k.tar") as tar:
        rows = [json.loads(line) for line in io.BytesIO(tar.extractfile("index.jsonl").read())]
    assert [row["desc_id"] for row in rows] == [moment["desc_id"] for moment in moments]
    assert all(bool(row["keyframes"]) == (row["reason"] is None) for row in rows)
    features = video_features("small-resnet", batch=16)
    counts = write_video_features(videos, features, 1.0, tmp_path / "v.h5")
    assert counts["ok"] == usable and sum(counts.values()) == len(videos)
    assert len(FeatureFile(tmp_path / "v.h5")) == usable


def test_file_deleted_while_it_is_read(tmp_path):
    path = write_video(tmp_path / "v.mp4", counted(LENGTH), 8)
    frames = iterate_frames(path)
    next(frames)
    path.unlink()
    assert len(list(frames)) == LENGTH - 1  # an open file stays readable
    with pytest.raises(VideoError) as caught:
        next(iterate_frames(path))
    assert caught.value.reason == "missing-file"


@pytest.mark.parametrize("cut", range(0, 100, 7))
def test_a_file_cut_anywhere_is_a_prefix_or_an_exclusion(tmp_path, cut):
    for movflags in ("faststart", "frag_keyframe+empty_moov"):
        path = write_video(tmp_path / "v.mp4", textured(32), 8, gop=8, options={"movflags": movflags})
        path.write_bytes(path.read_bytes()[: path.stat().st_size * cut // 100])
        try:
            described = probe(path)
        except VideoError as error:
            assert error.reason in ("empty-file", "not-a-video", "no-video-stream", "no-frames")
        else:
            assert 1 <= described["frames"] <= 32
            numbers = [number_of(frame) for _, frame in iterate_frames(path)]
            assert len(numbers) == described["frames"]
            assert np.abs(np.array(numbers[:-1]) - np.arange(len(numbers) - 1)).max(initial=0) <= 1
