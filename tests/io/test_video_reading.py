"""Reading videos: the right frames at the right times, each decoded once, and by decord as by PyAV."""

import logging
import math

import av
import numpy as np
import pytest
from av.stream import Disposition
from hypothesis import given, settings
from hypothesis import strategies as st
from media import counted, number_of, scenes, set_display_rotation, write_video

from verified.corpus.preflight import HeaderClaims, probe_header
from verified.io.video import TOLERANCE, VideoError, frames_of_spans, iterate_frames, probe, read_frames
from verified.io.video_reader import READER

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


def expected_numbers(stamps, end, times):
    """Reference: the last frame that has started at each time, for times before the video's end."""
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


@pytest.mark.parametrize("fps", [3.2, 12])
def test_a_whole_video_at_a_rate_is_on_the_grid_from_its_start(steady, fps):
    found, grid = [(time, number_of(frame)) for time, frame in iterate_frames(steady, fps=fps)], range(int(10 * fps))
    numbers = expected_numbers([k / FPS for k in range(COUNT)], 10, [k / fps for k in grid])
    assert found == [(k / fps, number) for k, number in zip(grid, numbers, strict=True)]


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
    from verified.io.video import decode

    monkeypatch.setattr(
        decode.Decoder,
        "_time_of",
        lambda self, packet, time_of=decode.Decoder._time_of: time_of(self, packet) + 5 * (packet.pts > 0),
    )
    frames, times = read_frames(long, [1.0, 33.3, 58.0])
    assert times == pytest.approx([1.0, 33.3, 58.0])
    assert [number_of(frame[:, :28]) for frame in frames] == [10, 333 % 80, 580 % 80]


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
    picture = {"width": 64, "height": 48, "rotation": 0, "codec": "h264"}
    assert described == {"duration": 10.0, "fps": 8.0, "frames": 80, "state": "whole", **picture}
    assert len(digest) == 64


@pytest.mark.parametrize(("claimed", "state"), [(b"10.900", "whole"), (b"11.100", "partial")])
def test_a_video_that_lacks_a_second_of_its_claim_is_partial(tmp_path, claimed, state):
    path = write_video(tmp_path / "v.mkv", counted(COUNT), FPS)
    path.write_bytes(path.read_bytes().replace(b"00:00:10.000", b"00:00:" + claimed))
    assert (probe(path)["state"], probe(path)["duration"]) == (state, 10)


@pytest.mark.parametrize(("ending", "default", "shown"), [("ts", None, 0), ("mp4", 0, 0), ("mkv", 1, 1)])
def test_of_two_video_streams_the_one_that_players_show_is_read(tmp_path, ending, default, shown):
    path, greys = tmp_path / f"two.{ending}", (60, 200)
    with av.open(str(path), "w") as container:
        streams = [container.add_stream("libx264", rate=FPS, width=side, height=side) for side in (64, 128)]
        for number, stream in enumerate(streams):
            stream.disposition = Disposition.default if number == default else Disposition(0)
        for stream, grey in zip(streams, greys):
            for _ in range(FPS):
                image = np.full((stream.height, stream.width, 3), grey, np.uint8)
                container.mux(stream.encode(av.VideoFrame.from_ndarray(image, format="rgb24")))
            container.mux(stream.encode(None))
    frame = read_frames(path, [0.5])[0][0]
    assert abs(float(frame.mean()) - greys[shown]) < 5
    look = probe_header(path)
    assert isinstance(look, HeaderClaims) and look.streams == 2


@pytest.fixture
def both(monkeypatch):
    pytest.importorskip("decord")

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
