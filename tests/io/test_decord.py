"""Frames and their times beside decord's, an independent reader."""

import numpy as np
import pytest
from media import counted, scenes, write_video

from verified.io.video import iterate_frames, read_frames

decord = pytest.importorskip("decord")

FILES = {
    "steady": (scenes([40, 40], size=(96, 128)), {"fps": 8}),
    "one key frame": (scenes([60, 60], size=(96, 128)), {"fps": 25, "gop": 250}),
    "uneven": (counted(9), {"times": [0, 0.1, 0.25, 0.5, 0.9, 1.0, 1.7, 1.8, 3.0]}),
    "odd": (scenes([12], size=(50, 66)), {"fps": 10}),
}


@pytest.mark.parametrize("name", FILES)
def test_frames_and_times_are_those_of_decord(tmp_path, name):
    images, options = FILES[name]
    path = write_video(tmp_path / "v.mp4", images, **options)
    other = decord.VideoReader(str(path), num_threads=1)
    starts = [float(start) for start, _ in other.get_frame_timestamp(range(len(other)))]
    ours = list(iterate_frames(path))
    assert [time for time, _ in ours] == pytest.approx(starts, abs=1e-5)
    for (_, frame), theirs in zip(ours, other, strict=True):
        assert np.array_equal(frame, theirs.asnumpy())
    wanted = [0.9, 0.3, 0.0]
    shown = [max(number for number, start in enumerate(starts) if start <= time + 1e-3) for time in wanted]
    assert np.array_equal(read_frames(path, wanted)[0], other.get_batch(shown).asnumpy())
