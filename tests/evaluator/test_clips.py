"""Clips on the disk and what the network sees of them."""

import math

import numpy as np
import pytest
from media import write_video
from refusals import refused

from verified.evaluator.clips import decode_frames, encode_frames, gather_clips, open_clips
from verified.evaluator.inputs import draw_frames, middle_frames, random_part, resize, scoring_view, training_view
from verified.io.jsonl import read_jsonl
from verified.io.video import frames_of_spans, probe


def moving(count=12, height=48, width=80):
    """A bright square on a gradient, going right."""
    ramp = np.linspace(40, 160, width, dtype=np.uint8)
    frames = np.repeat(np.repeat(ramp[None, None, :, None], height, 1), 3, 3).repeat(count, 0)
    for number, frame in enumerate(frames):
        left = 4 * number % (width - 16)
        frame[10:26, left : left + 16] = (230, 40, 40)
    return frames


def described(path, frames):
    return {"video": "v", "path": str(path), **probe(write_video(path, frames, fps=10))}


def test_a_stream_holds_the_frames_and_is_small():
    frames = moving()
    stream = encode_frames(frames)
    back = decode_frames(stream)
    assert back.shape == frames.shape and len(stream) < frames.nbytes / 20
    assert np.abs(back.astype(int) - frames).mean() < 3
    assert encode_frames(frames) == stream, "the same bytes each time"


def test_gathered_streams_are_the_frames_of_the_moments(tmp_path):
    video = described(tmp_path / "v.mp4", moving(40, 96, 128))
    moments = [
        {"desc_id": number, "video": name, "start": start, "end": end}
        for number, name, start, end in [
            (5, "v", 0.0, 2.0),
            (6, "v", 1.0, 1.05),
            (7, "gone", 0.0, 1.0),
            (8, "v", 2.0, 4.0),
        ]
    ]
    file, index = tmp_path / "c.h264", tmp_path / "c.jsonl"
    counts = gather_clips(moments, [video], 4, 3, 32, 48, file, str(index))
    rows = read_jsonl(index)
    assert counts == {"": 2, "shorter-than-two-frames": 1, "no-video": 1}
    assert [row["reason"] for row in rows] == [None, "shorter-than-two-frames", "no-video", None]
    clips = open_clips(file, rows)
    assert clips[0].shape == (12, 48, 64, 3), "proportions kept, shorter side as asked"
    spans = [(0.0, 2.0), (2.0, 4.0)]
    truth = {span: frames for span, frames, _ in frames_of_spans(video["path"], spans, count=12, size=(48, 64))}
    for row, span in ((0, 0), (3, 1)):
        assert np.abs(clips[row].astype(int) - truth[span]).mean() < 4
    file.write_bytes(file.read_bytes()[:-5])
    with refused(file=file, remedy=True):
        open_clips(file, rows)


def test_training_draws_another_frame_each_time_and_scoring_the_middle():
    clip = np.arange(12, dtype=np.uint8)[:, None, None, None] * np.ones((1, 16, 16, 3), np.uint8)
    assert middle_frames(clip, 4)[:, 0, 0, 0].tolist() == [1, 4, 7, 10]
    draws = {tuple(draw_frames(clip, 4, np.random.default_rng(seed))[:, 0, 0, 0]) for seed in range(60)}
    assert len(draws) > 30 and all(index // 3 == number for draw in draws for number, index in enumerate(draw))


def test_random_parts_keep_to_their_shares():
    generator = np.random.default_rng(0)
    for _ in range(500):
        height, width = 64, 96
        rows, columns = random_part(height, width, (0.5, 1.0), generator)
        assert 0 <= rows.start < rows.stop <= height and 0 <= columns.start < columns.stop <= width
        tall, wide = rows.stop - rows.start, columns.stop - columns.start
        assert 0.48 < tall * wide / (height * width) <= 1
        assert math.log(0.72) < math.log(wide / tall) < math.log(1.39)
    rows, columns = random_part(10, 400, (0.9, 1.0), generator)
    assert (rows.stop - rows.start, columns.stop - columns.start) == (10, 13), "the middle, where no part fits"
    assert (columns.start + columns.stop) / 2 == pytest.approx(200, abs=1)


def test_views_have_the_models_size_and_one_part_for_all_frames():
    clip = moving(8, 48, 80)
    view = scoring_view(clip, 4, 32)
    assert view.shape == (4, 32, 32, 3) and view.dtype == np.uint8
    still = np.repeat(clip[:1], 8, 0)
    trained = training_view(still, 4, 32, (0.5, 1.0), np.random.default_rng(3))
    assert trained.shape == (4, 32, 32, 3) and (trained == trained[:1]).all()
    assert (trained[0] != scoring_view(still, 4, 32)[0]).any()
    raw = moving(4, 32, 32)
    assert (resize(raw, 32) == raw).all() and not np.shares_memory(resize(raw, 32), raw)
