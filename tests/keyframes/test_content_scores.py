"""Content scores and cuts are PySceneDetect's own, number for number."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from media import scenes, write_video
from scenedetect import ContentDetector, FrameTimecode, SceneManager, StatsManager, detect, open_video
from scenedetect.common import Timecode
from scenedetect.detector import FlashFilter

from verified.keyframes.extract import extract_keyframes
from verified.keyframes.scores import ContentScore
from verified.keyframes.segments import bounds, find_cuts, segment_moment


def detector_scores(path):
    manager = SceneManager(StatsManager())
    manager.add_detector(ContentDetector())
    video = open_video(str(path), backend="pyav")
    manager.detect_scenes(video)
    name = ContentDetector.FRAME_SCORE_KEY
    frames = [FrameTimecode(number, video.frame_rate) for number in range(video.duration.frame_num)]
    return [manager.stats_manager.get_metrics(frame, [name])[0] for frame in frames]


@pytest.mark.parametrize("size", [(48, 64), (360, 640), (51, 33)])
def test_scores_equal_the_detectors(tmp_path, size):
    pixels = "yuv444p" if size[0] % 2 else "yuv420p"
    path = write_video(tmp_path / "v.mp4", scenes([5, 4, 6], size=size), pixels=pixels)
    from verified.io.video.decode import open_video as open_forward

    score = ContentScore()
    with open_forward(path) as video:
        ours = [score(item.frame.to_ndarray(format="bgr24")) for item in video]
    theirs = detector_scores(path)
    assert len(ours) == len(theirs) == 15
    assert ours[1:] == theirs[1:]
    assert max(ours) > 27


frames_and_scores = st.lists(st.sampled_from([0.0, 10.0, 26.9, 27.0, 30.0, 40.0, 55.5]), min_size=1, max_size=80)


@settings(max_examples=300, deadline=None)
@given(frames_and_scores, st.sampled_from([8, 25, 30]), st.sampled_from([0.3, 0.5, 0.6, 1.0]))
def test_cuts_equal_the_detectors_filter(scores, rate, min_seconds):
    flash = FlashFilter(FlashFilter.Mode.MERGE, min_seconds)
    theirs = []
    for number, score in enumerate(scores):
        # Positions as the detector has them from PyAV: exact presentation times, not frame numbers.
        position = FrameTimecode(Timecode(pts=number, time_base=Fraction(1, rate)), Fraction(rate))
        theirs += flash.filter(position, score >= 27.0)
    ours = find_cuts([number / rate for number in range(len(scores))], scores, 27.0, min_seconds)
    assert ours == pytest.approx([cut.seconds for cut in theirs])


@settings(max_examples=300, deadline=None)
@given(frames_and_scores, st.integers(1, 5), st.floats(0, 20))
def test_threshold_is_the_lowest_that_leaves_few_enough_segments(scores, segments, start):
    times = [start + number / 8 for number in range(len(scores))]
    segmented = segment_moment(times, scores, segments, 27.0, 0.6)
    assert len(bounds(times[0], times[-1] + 1 / 8, segmented.cuts)) <= segments
    assert set(segmented.cuts) <= set(times[1:])
    assert segmented.threshold >= 27.0
    # Every lower threshold of the search leaves too many, and the cuts are those of the threshold reported.
    inner = [0.0, *scores[1:]]
    assert find_cuts(times, inner, segmented.threshold, 0.6) == segmented.cuts
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
