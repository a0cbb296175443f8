"""Time and pictures as players show them; frames carry their number in eight blocks across the upper half."""

import bisect
import io
import random
from pathlib import Path

import av
import numpy as np
import pytest

from verified.corpus.preflight import probe_header
from verified.io.video import frames_of_spans, iterate_frames, probe, read_frames
from verified.io.video.cut import cut
from verified.io.video_reader import READER

CLIPS = Path(__file__).parents[1] / "fixtures" / "clips"


def picture(number: int) -> np.ndarray:
    image = np.full((96, 160, 3), (60, 90, 140), np.uint8)
    for bit in range(8):
        image[:48, 20 * bit : 20 * (bit + 1)] = 235 if number >> (7 - bit) & 1 else 20
    return image


def number_in(image: np.ndarray) -> int:
    height, width = image.shape[:2]
    return sum(1 << (7 - bit) for bit in range(8) if image[height // 4, (2 * bit + 1) * width // 16].mean() > 127)


@pytest.fixture(params=["pyav", "decord"])
def reader(request, monkeypatch):
    if request.param == "decord":
        pytest.importorskip("decord")
    monkeypatch.setenv(READER, request.param)


@pytest.mark.parametrize(
    "name, seconds, at, numbers",
    [
        ("held-last-frame", 20.966667, [0.5, 0.97, 7, 12, 20.9], [15, 29, 29, 29, 29]),
        ("late-picture", 9.0, [0, 2.9, 3.0, 4.05, 8.95], [0, 0, 0, 10, 59]),
        ("mirrored", 6.0, [4.05], [20]),
        ("cut-by-copy", 3.5, [0, 1, 2, 3, 3.4], [25, 35, 45, 55, 59]),
        ("anamorphic", 2.0, [0.05, 1.05], [0, 10]),
        ("half", 1.8, [0.05, 1.05], [0, 10]),
    ],
)
def test_the_frame_at_a_time_is_the_players(reader, name, seconds, at, numbers):
    path = CLIPS / f"{name}.mp4"
    assert [number_in(frame) for frame in read_frames(path, at)[0]] == numbers
    described = probe(path)
    assert described["duration"] == pytest.approx(seconds, abs=1e-3)
    assert described["state"] == ("partial" if name == "half" else "whole")
    assert probe_header(path).seconds == pytest.approx(seconds, abs=1e-3), "a check and a run agree"


@pytest.mark.parametrize(
    "name, span, numbers",
    [
        ("late-picture", (6.5, 8.5), range(35, 55)),
        ("late-picture", (0, 2), [0]),
        ("late-picture", (1, 3.25), range(3)),
        ("held-last-frame", (6, 12), [29]),
        ("cut-by-copy", (0, 9), range(25, 60)),
    ],
)
def test_spans_and_cuts_are_on_the_players_clock(reader, name, span, numbers):
    path = CLIPS / f"{name}.mp4"
    ((_, frames, _),) = frames_of_spans(path, [span], fps=10)
    assert list(dict.fromkeys(map(number_in, frames))) == list(numbers)
    with av.open(io.BytesIO(cut(path, {0: span}, 320)[0])) as clip:
        assert clip.streams.video[0].width == 160, "never enlarged"
        shown = [number_in(frame.to_ndarray(format="rgb24")) for frame in clip.decode(video=0)]
        assert clip.duration / av.time_base == pytest.approx(min(span[1], probe(path)["duration"]) - span[0], abs=0.05)
    assert sorted(set(shown)) == list(numbers)


def test_pictures_have_square_pixels_and_their_own_rate():
    assert probe(CLIPS / "late-picture.mp4")["fps"] == 10
    described = probe(CLIPS / "anamorphic.mp4")
    assert (described["width"], described["height"]) == (205, 116)
    assert read_frames(CLIPS / "anamorphic.mp4", [1])[0].shape == (1, 116, 205, 3)


@pytest.mark.parametrize("transfer", ["pq", "hlg"])
def test_hdr_becomes_sdr(tmp_path, transfer):
    """Greys of PQ are those that they were made of; HLG's reference white (75 % of the signal) becomes nearly white."""
    if transfer == "pq":
        image = read_frames(CLIPS / "hdr-pq.mp4", [0])[0][0]
        colours = [(200, 40, 40), (40, 200, 40), (40, 40, 200), (220, 200, 40)]
        wanted = [*colours, *([n] * 3 for n in (128, 250, 8)), (180, 120, 90)]
        assert np.abs(image[36, 8::16].astype(int) - wanted).max() <= 40
        assert np.abs(image[36, 72:128:16].astype(int) - wanted[4:]).max() <= 4
        return
    path = tmp_path / "hlg.mp4"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=10)
        stream.width, stream.height, stream.pix_fmt = 64, 64, "yuv420p10le"
        context = stream.codec_context
        context.color_trc, context.color_primaries, context.colorspace = 18, 9, 9
        frame = av.VideoFrame(64, 64, "yuv420p10le")
        for plane, value in zip(frame.planes, (64 + int(0.75 * 876), 512, 512)):
            plane.update(np.full(plane.buffer_size // 2, value, np.uint16).tobytes())
        for packet in (*stream.encode(frame), *stream.encode()):
            container.mux(packet)
    assert 225 <= read_frames(path, [0])[0].mean() <= 255


FORMS = {
    "mpeg1.mpg": ("mpeg1video", 2),
    "mpeg2.mpg": ("mpeg2video", 2),
    "mpeg2.vob": ("mpeg2video", 2),
    "mpeg2.ts": ("mpeg2video", 2),
    "mpeg2.mkv": ("mpeg2video", 2),
    "mpeg2.mxf": ("mpeg2video", 2),
    "mpeg4.avi": ("mpeg4", 2),
    "mpeg4.mp4": ("mpeg4", 2),
    "h264.mp4": ("libx264", 3),
    "h264.mkv": ("libx264", 3),
    "h264.m2ts": ("libx264", 3),
    "h264.flv": ("libx264", 0),
    "h265.mp4": ("libx265", 3),
    "vp8.webm": ("libvpx", 0),
    "vp9.webm": ("libvpx-vp9", 0),
    "wmv2.asf": ("wmv2", 0),
    "open-gop.mp4": ("libx264", 3),
    "with-sound.mpg": ("mpeg2video", 2),
    "with-sound.mkv": ("libx264", 3),
}


def render(path: Path, codec: str, b_frames: int) -> None:
    """250 numbered frames at 25 frames a second, a key frame every 15."""
    details = {"libx265": {"x265-params": "log-level=none"}}.get(codec, {})
    details |= {"x264-params": "open-gop=1"} if path.stem == "open-gop" else {}
    with av.open(str(path), "w", format={".vob": "vob"}.get(path.suffix)) as container:
        stream = container.add_stream(codec, rate=25, options={"b": "800k", "threads": "1", **details})
        stream.width, stream.height, stream.pix_fmt = 160, 96, "yuv420p"
        stream.codec_context.gop_size, stream.codec_context.max_b_frames = 15, b_frames
        sound = container.add_stream("mp2", rate=44100, layout="mono") if path.stem == "with-sound" else None
        for number in range(250):
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture(number), format="rgb24")))
            if sound is not None:
                silence = av.AudioFrame.from_ndarray(np.zeros((1, 1764), np.int16), format="s16", layout="mono")
                silence.rate = 44100
                container.mux(sound.encode(silence))
        container.mux(stream.encode())
        if sound is not None:
            container.mux(sound.encode())


@pytest.mark.parametrize("name", FORMS)
def test_the_frame_at_a_time_is_that_of_a_full_decode(tmp_path, name):
    codec, b_frames = FORMS[name]
    if codec not in av.codecs_available:
        pytest.skip(f"this build of FFmpeg does not write {codec}")
    path, drawn = tmp_path / name, random.Random(name)
    render(path, codec, b_frames)
    full = [(time, number_in(frame)) for time, frame in iterate_frames(path)]
    times = [time for time, _ in full]
    assert [number for _, number in full] == list(range(250))
    assert np.allclose(np.diff(times), 0.04, atol=2e-3)
    assert probe_header(path).seconds == pytest.approx(probe(path)["duration"], abs=0.15)

    def expected(at: float) -> tuple[float, int]:
        return full[max(0, bisect.bisect_right(times, at + 1e-3) - 1)]

    for at in (drawn.uniform(0, 9.9) for _ in range(8)):
        frames, shown = read_frames(path, [at])
        assert (shown[0], number_in(frames[0])) == expected(at)
    spans = [(start, start + 1.0) for start in (1.3, 4.1, 7.7)]
    for index, frames, shown in frames_of_spans(path, spans, fps=8):
        at = [spans[index][0] + k / 8 for k in range(8)]
        assert list(zip(shown, map(number_in, frames))) == [expected(time) for time in at]
