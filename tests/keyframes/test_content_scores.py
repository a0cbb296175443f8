"""The threshold of a moment is the lowest that leaves few enough segments; its cuts are PySceneDetect's own."""

import itertools

import cv2
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from media import scenes, write_video
from scenedetect import ContentDetector, detect

from verified.keyframes.extract import extract_keyframes
from verified.keyframes.segmentation import SCORED_WIDTH, ContentScore, bounds, find_cuts, segment_moment

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
