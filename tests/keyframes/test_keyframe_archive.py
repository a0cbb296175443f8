"""Keyframes: the threshold of a moment, PySceneDetect's own cuts, and archives of the same bytes for any sharding."""

import io
import itertools
import json
import tarfile

import cv2
import numpy as np
import pytest
from captioning import tar_of
from hypothesis import example, given, settings
from hypothesis import strategies as st
from media import counted, number_of, scenes, write_video
from PIL import Image
from PIL.JpegImagePlugin import get_sampling
from scenedetect import ContentDetector, detect

from verified.config.datasets import Keyframes
from verified.io.video import frames_of_spans
from verified.keyframes.extract import extract_keyframes, write_keyframes
from verified.keyframes.seen import SeenKeyframes
from verified.keyframes.segmentation import SCORED_WIDTH, ContentScore, bounds, find_cuts, segment_moment
from verified.runtime.previous_output import made_with
from verified.runtime.wildcards import group_by_shard, shard_names

SETTINGS = Keyframes(segments=3, min_scene_seconds=0.6, threshold=27.0)


def read_archive(path):
    with tarfile.open(path) as tar:
        names = tar.getnames()
        rows = [json.loads(line) for line in tar.extractfile("index.jsonl")]
        images = {name: tar.extractfile(name).read() for name in names[1:]}
    assert names[0] == "index.jsonl"
    assert names[1:] == [keyframe["file"] for row in rows for keyframe in row["keyframes"]]
    return rows, images


def moment(desc_id, video, start, end):
    return {"desc_id": desc_id, "video": video, "start": start, "end": end, "caption": "a ball moves"}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("videos")
    videos, moments = [], []
    for number in range(6):
        name = f"v{number}"
        path = write_video(folder / f"{name}.mp4", scenes([20, 9, 14, 21], seed=number))
        videos.append({"video": name, "path": str(path)})
        spans = [(0.0, 8.0), (1.5, 4.25), (3.0, 3.125), (0.25, 6.0)]
        moments += [moment(number * 10 + k, name, *span) for k, span in enumerate(spans)]
    return videos, moments


def test_shards_do_not_change_a_keyframe(corpus, tmp_path):
    videos, moments = corpus
    write_keyframes(moments, videos, SETTINGS, tmp_path / "one.tar")
    rows, images = read_archive(tmp_path / "one.tar")
    assert [row["desc_id"] for row in rows] == [row["desc_id"] for row in moments]
    parts, part_images = [], {}
    for name, some in zip(shard_names(4), group_by_shard(moments, 4)):
        write_keyframes(some, videos, SETTINGS, tmp_path / f"{name}.tar")
        some_rows, some_images = read_archive(tmp_path / f"{name}.tar")
        parts += some_rows
        part_images |= some_images
    assert sorted(parts, key=lambda row: row["desc_id"]) == rows
    assert part_images == images
    write_keyframes(moments, videos, SETTINGS, tmp_path / "again.tar")
    assert (tmp_path / "one.tar").read_bytes() == (tmp_path / "again.tar").read_bytes()
    pictures = [Image.open(io.BytesIO(image)) for image in images.values()]
    assert {get_sampling(picture) for picture in pictures} == {0}, "colour has the resolution of brightness"


def test_true_cuts_are_found_and_middles_shown(corpus, tmp_path):
    videos, moments = corpus
    write_keyframes(moments, videos, SETTINGS.model_copy(update={"segments": 9}), tmp_path / "k.tar")
    rows, images = read_archive(tmp_path / "k.tar")
    whole = next(row for row in rows if row["desc_id"] == 0)
    assert whole["cuts"] == [20 / 8, 29 / 8, 43 / 8]
    for keyframe in whole["keyframes"]:
        assert keyframe["time"] == pytest.approx(sum(keyframe["segment"]) / 2)
        shown = np.asarray(Image.open(io.BytesIO(images[keyframe["file"]])), np.float64)
        _, frames, _ = next(frames_of_spans(videos[0]["path"], [(keyframe["time"], keyframe["time"] + 1e-3)], count=1))
        assert np.abs(shown - frames[0]).mean() < 2


def test_unusable_videos_and_late_moments_are_named_and_counted(tmp_path):
    good = write_video(tmp_path / "good.mp4", counted(16))
    bad = tmp_path / "bad.mp4"
    bad.write_bytes(good.read_bytes()[:40])
    videos = [{"video": name, "path": str(tmp_path / f"{name}.mp4")} for name in ("good", "bad", "gone")]
    names, spans = ("good", "bad", "gone", "good", "never", "good"), [(0, 1)] * 3 + [(2.0, 3), (0, 1), (1.5, 9)]
    moments = [moment(n, name, *span) for n, (name, span) in enumerate(zip(names, spans), start=1)]
    counts = write_keyframes(moments, videos, SETTINGS, tmp_path / "k.tar")
    rows, _ = read_archive(tmp_path / "k.tar")
    reasons = {row["desc_id"]: row["reason"] for row in rows}
    assert reasons == {1: None, 2: "not-a-video", 3: "missing-file", 4: "past-the-end", 5: "unknown-video", 6: None}
    assert sum(counts.values()) == len(moments) and counts["ok"] == 2
    assert rows[5]["keyframes"][-1]["segment"] == [1.5, 2.0]


@pytest.fixture(scope="module")
def numbered(tmp_path_factory):
    return write_video(tmp_path_factory.mktemp("numbered") / "v.mp4", counted(64))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.floats(0, 7.9), st.floats(0.01, 8)), min_size=1, max_size=6), st.integers(1, 5))
def test_never_more_than_asked_and_all_inside(numbered, drawn, segments):
    spans = [(start, start + length) for start, length in drawn]
    segmented = dict(extract_keyframes(numbered, spans, segments, 2.0, 0.3))
    assert set(segmented) == set(range(len(spans)))
    ended = [(spans[index][1], index) for index in segmented if spans[index][1] < 8]
    assert ended == sorted(ended)
    for index, (start, end) in enumerate(spans):
        keyframes = segmented[index].keyframes
        assert 1 <= len(keyframes) <= segments
        for keyframe in keyframes:
            assert start <= keyframe.time < end
            shown = number_of(keyframe.image)
            assert shown / 8 <= keyframe.time + 2e-3 and keyframe.time < (shown + 1) / 8 + 2e-3


def test_earlier_keyframes_are_of_the_same_settings_code_and_packages_for_any_number_of_shards():
    params = {"settings": {"segments": 3}, "code": "a", "shards": 4}
    first = made_with(params, "numpy")
    others = [{"settings": {"segments": 2}}, {"code": "b"}]
    assert len({first, made_with(params, "pillow"), *(made_with(params | other, "numpy") for other in others)}) == 4
    assert first == made_with(params | {"shards": 9, "threads": 2}, "numpy")


def test_a_moment_with_another_end_gets_its_own_keyframes(numbered, tmp_path):
    video = {"video": "v", "path": str(numbered), "sha256": "0f"}
    times = []
    lost = [video | {"path": str(tmp_path / "gone.mp4")}]
    assert write_keyframes([moment(7, "v", 1.0, 3.0)], lost, SETTINGS, tmp_path / "k.tar", "same") == {
        "missing-file": 1
    }
    for end in (3.0, 3.0, 5.0):
        write_keyframes([moment(7, "v", 1.0, end)], [video], SETTINGS, tmp_path / "k.tar", maker="same")
        rows, _ = read_archive(tmp_path / "k.tar")
        times.append([keyframe["time"] for keyframe in rows[0]["keyframes"]])
        (tmp_path / "k.tar").unlink()
    assert times[0] == times[1] != times[2] and times[0]
    replaced = [lost[0] | {"sha256": "1e"}]
    assert write_keyframes([moment(7, "v", 1.0, 5.0)], replaced, SETTINGS, tmp_path / "k.tar", "same") == {
        "missing-file": 1
    }


def test_moments_longer_than_the_buffer_get_the_same_keyframes(corpus):
    spans = [(0.0, 8.0), (0.5, 7.25), (1.5, 3.0)]
    whole, late = (
        dict(extract_keyframes(corpus[0][0]["path"], spans, 9, 27.0, 0.6, held_bytes=held)) for held in (2**28, 1)
    )
    assert [len(whole[index].keyframes) for index in range(3)] == [4, 4, 2]
    for index in range(3):
        for keyframe, other in zip(whole[index].keyframes, late[index].keyframes, strict=True):
            assert keyframe[:2] == other[:2] and np.array_equal(keyframe.image, other.image)


def test_a_quote_takes_keyframes_that_fill_a_moment_of_a_probed_video(tmp_path):
    spans = {"11/9.jpg": [1.5, 3.0], "11/10.jpg": [3.0, 4.25]}
    frames = [{"file": name, "time": sum(span) / 2, "segment": span} for name, span in spans.items()]
    index = json.dumps({"desc_id": 11, "video": "v", "keyframes": frames[::-1]}) + "\n"
    tar_of(tmp_path / "k.tar", {"index.jsonl": index.encode(), "11/10.jpg": b"ten", "11/9.jpg": b"nine"})
    same, other = moment(12, "v", 1.5, 4.25), moment(11, "v", 1.5, 3.0)
    with SeenKeyframes(tmp_path / "k.tar", SETTINGS, [same, other], {"v": {}}) as seen:
        assert [seen.image(frame["file"]) for frame in seen.keyframes(12)] == [b"nine", b"ten"], "in the order of time"
        assert [*seen.supposed] == [11] and len(seen.keyframes(11)) == SETTINGS.segments
    with SeenKeyframes(tmp_path / "k.tar", SETTINGS, [same], {"w": {}}) as seen:
        assert [*seen.supposed] == [12], "its video is not probed"


frames_and_scores = st.lists(st.sampled_from([0.0, 10.0, 26.9, 27.0, 30.0, 40.0, 55.5]), min_size=1, max_size=80)


@settings(max_examples=100, deadline=None)
@given(frames_and_scores, st.integers(1, 5), st.floats(0, 20))
@example([*[0.0] * 6, 55.5, *[0.0] * 6, 30.0], 2, 4.0)  # the stronger cut is the earlier one
def test_threshold_is_the_lowest_that_leaves_few_enough_segments(scores, segments, start):
    times = [start + number / 8 for number in range(len(scores))]
    segmented = segment_moment(times, scores, segments, 27.0, 0.6)
    assert len(bounds(times[0], times[-1] + 1 / 8, segmented.cuts)) <= segments
    assert set(segmented.cuts) <= set(times[1:])
    assert segmented.threshold >= 27.0
    # Every lower threshold of the search leaves too many, and the cuts are those of the threshold reported.
    inner = [0.0, *scores[1:]]
    assert find_cuts(times, inner, segmented.threshold, 0.6) == segmented.cuts
    assert find_cuts([0.0, 1.0], [0.0, 27.0], 27.0, 0.6) == [1.0], "a score that reaches the threshold is a cut"
    assert find_cuts([0.0, 0.5, 1.5], [0.0, 40.0, 40.0], 27.0, 0.5) == [0.5, 1.5], "as long as the shortest"
    quick = [30.0 * (number in (8, 11, 14, 17)) for number in range(32)]
    assert find_cuts([number / 8 for number in range(32)], quick, 27.0, 0.6) == [1.0, 17 / 8], "the last of quick cuts"
    for lower in [27.0, *(np.nextafter(score, np.inf) for score in set(inner) if score >= 27.0)]:
        if lower < segmented.threshold:
            assert len(find_cuts(times, inner, lower, 0.6)) >= segments


def test_moment_cut_like_the_detector_with_our_threshold(tmp_path):
    path = write_video(tmp_path / "v.mp4", scenes([9, 7, 12, 6, 8, 10, 7], seed=3))
    moment = (0.5, 6.5)
    for segments in (1, 2, 3, 5, 9):
        [(_, segmented)] = extract_keyframes(path, [moment], segments, 27.0, 0.6)
        detector = ContentDetector(threshold=segmented.threshold, min_scene_len=0.6)
        theirs = detect(str(path), detector, start_time=0.5, end_time=6.5, backend="pyav", start_in_scene=True)
        assert [scene[0].seconds for scene in theirs[1:]] == pytest.approx(segmented.cuts)
        assert len(segmented.keyframes) == len(segmented.cuts) + 1 <= segments
        edges = [moment[0], *segmented.cuts, moment[1]]
        assert [keyframe.segment for keyframe in segmented.keyframes] == list(itertools.pairwise(edges))


def test_an_upright_video_is_scored_as_the_same_video_that_lies():
    lying = np.random.default_rng(4).integers(0, 256, (3, 200, 2 * SCORED_WIDTH, 3)).astype(np.uint8)
    scores = [
        [scorer(np.ascontiguousarray(frame)) for frame in frames]
        for scorer, frames in ((ContentScore(), lying), (ContentScore(), lying.swapaxes(1, 2)))
    ]
    assert scores[0] == pytest.approx(scores[1], rel=0.01)
    small, scorer = [cv2.resize(frame, (SCORED_WIDTH, 100)) for frame in lying], ContentScore()
    assert scores[0] == [scorer(frame) for frame in small], "the longer side is shrunk"
