"""Reading videos: the right frames at the right times, each video decoded once."""

import math
import multiprocessing
import tracemalloc
from concurrent.futures import ProcessPoolExecutor

import av
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from media import counted, number_of, set_display_rotation, write_video

from verified.io.video import TOLERANCE, frames_of_spans, iterate_frames, probe, read_frames
from verified.io.video.spans import rate_times, uniform_times

FPS, COUNT = 8, 80


@pytest.fixture(scope="module")
def steady(tmp_path_factory):
    """80 numbered frames at 8 frames a second, 10 s, several key frames."""
    return write_video(tmp_path_factory.mktemp("steady") / "v.mp4", counted(COUNT), FPS, gop=12)


@pytest.fixture(scope="module")
def long(tmp_path_factory):
    """A minute at 10 frames a second; the number is in the left half, modulo 80, and the half minute in the right."""
    images = []
    for number, image in zip(range(600), counted(80) * 8):
        image = image.copy()
        image[:, 32:] = 30 * (number // 80)
        images.append(image)
    return write_video(tmp_path_factory.mktemp("long") / "v.mp4", images, 10, gop=50)


STAMPS = [0, 0.1, 0.15, 0.9, 1.0, 1.04, 2.5, 2.6, 5.0, 5.04, 5.08, 6.0]


@pytest.fixture(scope="module", params=["mp4", "mkv"])
def uneven(request, tmp_path_factory):
    """Twelve numbered frames at uneven times."""
    folder = tmp_path_factory.mktemp("uneven")
    return write_video(folder / f"v.{request.param}", counted(len(STAMPS)), 25, times=STAMPS)


def expected_numbers(stamps, end, times):
    """Reference: the last frame that has begun at each time, for times before the video's end."""
    return [
        max(k for k, stamp in enumerate(stamps) if stamp <= time + TOLERANCE)
        for time in times
        if time < end - TOLERANCE
    ]


spans_drawn = st.lists(
    st.tuples(st.floats(0, 9.8), st.floats(0.05, 12)).map(lambda pair: (pair[0], pair[0] + pair[1])),
    min_size=1,
    max_size=6,
)


@settings(max_examples=60, deadline=None)
@given(spans_drawn, st.sampled_from([0.3, 1.0, 3.0, 4.0, 8.0, 10.0]))
def test_rate_gives_the_frames_on_the_screen(steady, spans, fps):
    stamps = [k / FPS for k in range(COUNT)]
    frames_of = {index: (frames, times) for index, frames, times in frames_of_spans(steady, spans, fps=fps)}
    assert set(frames_of) == set(range(len(spans)))
    for index, (start, end) in enumerate(spans):
        frames, times = frames_of[index]
        grid = [start + k / fps for k in range(max(1, math.ceil((end - start) * fps - TOLERANCE * fps)))]
        expected = expected_numbers(stamps, COUNT / FPS, grid)
        assert [number_of(frame) for frame in frames] == expected
        assert times.tolist() == [number / FPS for number in expected]


@settings(max_examples=60, deadline=None)
@given(spans_drawn, st.integers(1, 9))
def test_number_gives_middles_of_equal_parts(steady, spans, count):
    stamps = [k / FPS for k in range(COUNT)]
    for index, frames, times in frames_of_spans(steady, spans, count=count):
        start, end = spans[index]
        middles = [start + (k + 0.5) * (end - start) / count for k in range(count)]
        inside = middles[0] < COUNT / FPS - TOLERANCE
        expected = expected_numbers(stamps, math.inf, middles) if inside else []
        assert [number_of(frame) for frame in frames] == expected
        assert len(times) == len(expected)


@settings(max_examples=60, deadline=None)
@given(spans_drawn)
def test_without_rate_every_frame_of_the_half_open_span(steady, spans):
    for index, frames, times in frames_of_spans(steady, spans):
        start, end = spans[index]
        expected = [k for k in range(COUNT) if start - TOLERANCE <= k / FPS < end - TOLERANCE]
        expected = expected or expected_numbers([k / FPS for k in range(COUNT)], COUNT / FPS, [start])
        assert [number_of(frame) for frame in frames] == expected == [round(time * FPS) for time in times]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(-1, 70), min_size=1, max_size=8))
def test_sparse_times_in_any_order_equal_a_forward_decode(long, wanted):
    frames, times = read_frames(long, wanted)
    expected = [min(max(math.floor((time + TOLERANCE) * 10), 0), 599) for time in wanted]
    assert times.tolist() == pytest.approx([number / 10 for number in expected])
    for frame, number in zip(frames, expected, strict=True):
        assert number_of(frame[:, :28]) == number % 80
        assert round(frame[:, 36:].mean() / 30) == number // 80


def test_jump_that_lands_wrong_is_undone(long, monkeypatch):
    """An index that lies must cost time, not frames."""
    from verified.io.video import decode

    monkeypatch.setattr(
        decode.Decoder,
        "_time_of",
        lambda self, packet, time_of=decode.Decoder._time_of: time_of(self, packet) + 5 * (packet.pts > 0),
    )
    frames, times = read_frames(long, [1.0, 33.3, 58.0])
    assert times == pytest.approx([1.0, 33.3, 58.0])
    assert [number_of(frame[:, :28]) for frame in frames] == [10, 333 % 80, 580 % 80]


def test_uneven_times_are_kept(uneven):
    timed_frames = list(iterate_frames(uneven))
    assert [time for time, _ in timed_frames] == pytest.approx(STAMPS, abs=TOLERANCE)
    assert [number_of(frame) for _, frame in timed_frames] == list(range(12))
    assert probe(uneven)["frames"] == 12
    assert 6.0 < probe(uneven)["duration"] < 6.5  # containers are of two minds about how long the last frame stays
    assert probe(uneven)["fps"] == pytest.approx(11 / 6, rel=0.01)
    _, frames, _ = next(frames_of_spans(uneven, [(0.5, 5.5)], fps=2))
    assert [number_of(frame) for frame in frames] == expected_numbers(STAMPS, 6.04, rate_times(0.5, 5.5, 2))
    frames, _ = read_frames(uneven, [0.12, 4.9, 2.55, 0.9])
    assert [number_of(frame) for frame in frames] == [1, 7, 6, 3]


def test_rate_of_a_whole_video_repeats_and_thins(steady):
    assert [number_of(frame) for _, frame in iterate_frames(steady, 4)] == list(range(0, 80, 2))
    doubled = list(iterate_frames(steady, 16))
    assert [number_of(frame) for _, frame in doubled] == [number // 2 for number in range(160)]
    assert [time for time, _ in doubled] == pytest.approx(np.arange(160) / 16)
    assert [number_of(frame) for _, frame in iterate_frames(steady, 0.25)] == [0, 32, 64]


def test_spans_come_when_they_are_complete(steady):
    assert [len(frames) for _, frames, _ in frames_of_spans(steady, [(9.95, 12), (10.5, 12)])] == [1, 0]
    spans = [(0.0, 10.0), (1.0, 2.0), (0.5, 1.5), (9.0, 12.0), (11.0, 12.0), (1.0, 2.0)]
    order = [index for index, _, _ in frames_of_spans(steady, spans, fps=4)]
    assert order == [2, 1, 5, 0, 3, 4]
    results = {index: frames for index, frames, _ in frames_of_spans(steady, spans, fps=4, size=(24, 20))}
    assert results[4].shape == (0, 24, 20, 3)
    assert len(results[3]) == 4 and np.array_equal(results[1], results[5])


def test_memory_holds_open_spans_only(long):
    """Frames of many spans one after the other are let go with their span."""
    peaks = []
    for seconds in (5, 60):
        tracemalloc.start()
        spans = [(second, second + 1) for second in range(seconds)]
        for _, frames, _ in frames_of_spans(long, spans, fps=10, size=(96, 128)):
            del frames
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 2 * peaks[0]


def test_empty_and_infinite_spans_are_refused(steady):
    for span in [(1, 1), (2, 1), (float("nan"), 2), (0, float("inf"))]:
        with pytest.raises(ValueError, match="span 0"):
            list(frames_of_spans(steady, [span]))
    with pytest.raises(ValueError, match="not both"):
        list(frames_of_spans(steady, [(0, 1)], fps=4, count=2))
    assert list(frames_of_spans(steady, [])) == []


def test_size_and_odd_size(tmp_path):
    path = write_video(tmp_path / "odd.mkv", counted(6, (51, 33)), 8, codec="ffv1", pixels="yuv444p")
    assert next(iterate_frames(path))[1].shape == (51, 33, 3)
    assert next(iterate_frames(path, size=20))[1].shape == (20, 20, 3)
    assert [number_of(frame) for _, frame in iterate_frames(path, size=(10, 30))] == list(range(6))
    assert probe(path)["height"] == 51 and probe(path)["width"] == 33


@pytest.mark.parametrize("turns", [0, 1, 2, 3])
def test_rotation_metadata_is_applied(tmp_path, turns):
    upright = np.full((64, 96, 3), 30, np.uint8)
    upright[:32, :48] = (220, 40, 40)  # red stands at the top left
    path = write_video(tmp_path / "v.mp4", [np.rot90(upright, -turns)] * 4, 8)
    path.write_bytes(set_display_rotation(path.read_bytes(), turns))
    described = probe(path)
    assert (described["height"], described["width"]) == (64, 96)
    assert described["rotation"] % 360 == 90 * turns
    _, frame = next(iterate_frames(path))
    assert frame.shape == (64, 96, 3)
    assert np.abs(frame.astype(int) - upright).mean() < 6
    _, frames, _ = next(frames_of_spans(path, [(0, 0.5)], count=2, size=(32, 48)))
    assert frames.shape == (2, 32, 48, 3) and frames[0, 4, 4, 0] > 150 and frames[0, -4, 4, 0] < 100


def test_probe_describes_a_whole_video(steady):
    described = probe(steady)
    digest = described.pop("sha256")
    assert described == {
        "duration": 10.0,
        "fps": 8.0,
        "width": 64,
        "height": 48,
        "frames": 80,
        "rotation": 0,
        "codec": "h264",
        "state": "whole",
    }
    assert len(digest) == 64


def test_grids():
    assert rate_times(1.0, 2.0, 4).tolist() == [1.0, 1.25, 1.5, 1.75]
    assert len(rate_times(0.0, 0.1, 4)) == 1
    assert len(rate_times(0.3, 0.3 + 0.1 * 3, 10)) == 3  # float dust above a whole number adds no frame
    assert uniform_times(0.0, 8.0, 4).tolist() == [1.0, 3.0, 5.0, 7.0]


def test_decoder_threads_do_not_change_frames(long):
    one, _ = read_frames(long, [0.5, 20.2, 44.4])
    four, _ = read_frames(long, [0.5, 20.2, 44.4], threads=4)
    assert np.array_equal(one, four)
    assert av.library_versions["libavcodec"] >= (61, 0, 0)


@pytest.fixture(scope="module")
def elsewhere():
    """A process to encode in: run by root, SVT-AV1 makes the thread that calls it a real-time one, for good."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as processes:
        yield processes


@pytest.mark.parametrize(
    "codec, name",
    [
        ("libx264", "v.mkv"),
        ("libx264", "v.ts"),
        ("libx265", "v.mp4"),
        ("mpeg4", "v.avi"),
        ("mpeg2video", "v.mpg"),
        ("libvpx-vp9", "v.webm"),
        ("libsvtav1", "v.mp4"),
        ("mjpeg", "v.avi"),
    ],
)
def test_sparse_reads_are_exact_for_every_codec(tmp_path, elsewhere, codec, name):
    """Neither jumps nor frames left out may change what is seen, whatever the codec and its container."""
    if codec not in av.codecs_available:
        pytest.skip(f"this build of FFmpeg does not write {codec}")
    pixels = "yuvj420p" if codec == "mjpeg" else "yuv420p"
    images = list(counted(250, (64, 64)))
    path = elsewhere.submit(write_video, tmp_path / name, images, 25, codec=codec, gop=30, pixels=pixels).result()
    forward = list(iterate_frames(path))
    assert len(forward) >= 245
    stamps = np.array([time for time, _ in forward])
    on_keys = stamps[[60, 150, 240]]  # and just before each
    for wanted in (np.random.default_rng(0).uniform(0, 10, 6), on_keys, on_keys - 2 * TOLERANCE):
        frames, times = read_frames(path, wanted)
        for frame, time, at in zip(frames, times, wanted, strict=True):
            expected = int(np.searchsorted(stamps, at + TOLERANCE, side="right")) - 1
            assert time == pytest.approx(stamps[expected])
            assert np.array_equal(frame, forward[expected][1])
