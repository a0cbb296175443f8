"""Decord behind the contract of the default reader: the same frames at the same times, also of damaged files."""

import importlib.util
import logging

import numpy as np
import pytest
from media import counted, scenes, set_display_rotation, write_video

from verified.io.video import VideoError, frames_of_spans, iterate_frames, read_frames
from verified.io.video_reader import READER

pytestmark = pytest.mark.skipif(not importlib.util.find_spec("decord"), reason="decord is not installed")


@pytest.fixture
def both(monkeypatch):
    """A function that runs another with either reader."""

    def run(read):
        monkeypatch.setenv(READER, "pyav")
        ours = read()
        monkeypatch.setenv(READER, "decord")
        return ours, read()

    return run


def _same(ours, theirs, apart: float = 0) -> None:
    assert len(ours) == len(theirs) > 0
    for (time, frame), (other_time, other) in zip(ours, theirs):
        assert other_time == pytest.approx(time, abs=1e-5)
        assert np.abs(frame.astype(int) - other).mean() <= apart


FILES = {
    "steady": (scenes([40, 40], size=(96, 128)), {"fps": 8}),
    "one key frame": (scenes([60, 60], size=(96, 128)), {"fps": 25, "gop": 250}),
    "uneven": (counted(9), {"times": [0, 0.1, 0.25, 0.5, 0.9, 1.0, 1.7, 1.8, 3.0]}),
    "odd": (scenes([12], size=(50, 66)), {"fps": 10}),
}


@pytest.mark.parametrize("name", FILES)
def test_all_frames_and_frames_of_spans_are_the_same(both, tmp_path, name):
    images, options = FILES[name]
    path = write_video(tmp_path / "v.mp4", images, **options)
    _same(*both(lambda: list(iterate_frames(path))))
    # How long the last frame stays is not in every file; the two libraries then guess differently.
    last = [time for time, _ in iterate_frames(path)][-1]
    _same(*both(lambda: [item for item in iterate_frames(path, fps=5) if item[0] <= last]))
    # Scaled from RGB instead of from the stored planes: the same but for rounding.
    _same(*both(lambda: [item for item in iterate_frames(path, fps=5, size=32) if item[0] <= last]), apart=2)
    _same(*both(lambda: list(zip(*reversed(read_frames(path, [0.9, 0.3, 2.4, 0.0]))))))
    spans = [(0.5, 0.9), (0.0, 1.1), (0.7, 0.8)]
    for ours, theirs in zip(*both(lambda: list(frames_of_spans(path, spans, count=3))), strict=True):
        assert ours[0] == theirs[0] and np.array_equal(ours[1], theirs[1]) and np.allclose(ours[2], theirs[2])


@pytest.mark.parametrize("turns", [1, 2, 3])
def test_turned_videos_stand_upright(both, tmp_path, turns):
    upright = np.full((64, 96, 3), 30, np.uint8)
    upright[:32, :48] = (220, 40, 40)
    path = write_video(tmp_path / "v.mp4", [np.rot90(upright, -turns)] * 4, 8)
    path.write_bytes(set_display_rotation(path.read_bytes(), turns))
    _same(*both(lambda: list(iterate_frames(path))), apart=2)


def test_damaged_files_give_what_pyav_gives_and_say_so(both, tmp_path, caplog, monkeypatch):
    monkeypatch.setattr(logging.getLogger("verified"), "propagate", True)
    whole = write_video(tmp_path / "v.mp4", scenes([30, 30], size=(96, 128)), fps=25, gop=20).read_bytes()
    random, differing = np.random.default_rng(0), 0
    for _ in range(12):
        data, at = bytearray(whole), int(random.integers(1000, len(whole) - 3000))
        data[at : at + 60] = random.integers(0, 256, 60, np.uint8).tobytes()
        (tmp_path / "d.mp4").write_bytes(data)
        _same(*both(lambda: list(iterate_frames(tmp_path / "d.mp4"))))
        differing += "PyAV continues" in caplog.text
        caplog.clear()
    assert differing > 3
    (tmp_path / "d.mp4").write_bytes(whole[:-200])
    with pytest.raises(VideoError):
        list(iterate_frames(tmp_path / "d.mp4"))
