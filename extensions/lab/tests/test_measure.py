"""Measures of moments on clips that are black, still, blurred, moving, written on, loud or quiet."""

import numpy as np
import pytest
from quality_clips import black, board, written
from sounds import silence, tone, write_film

from verified.io.video import probe
from verified.runtime.previous_output import PreviousOutput
from verified_lab.config import Quality
from verified_lab.quality.measure import find_text, measure_frames, measure_moments


def test_black_still_blurred_and_moving_pictures_are_distinguished():
    dark, moving = measure_frames(np.stack(black(4))), measure_frames(np.stack(board(4)))
    still, blurred = measure_frames(np.stack(board(4, still=True))), measure_frames(np.stack(board(4, blur=6.0)))
    assert dark["black"] == 1 and all(one["black"] == 0 for one in (moving, still, blurred))
    assert still["motion"] < 0.5 < moving["motion"] and blurred["motion"] > 0.5
    assert blurred["sharpness"] < 20 < min(moving["sharpness"], still["sharpness"])
    assert measure_frames(np.stack(board(1)))["motion"] is None
    assert measure_frames(np.stack([*board(1), *board(2, blur=6.0)]))["sharpness"] < 20, "that of most frames"
    spot = np.zeros((1, 100, 100, 3), np.uint8)
    spot[:, :20, :15] = 255
    assert measure_frames(spot)["black"] == 0, "three percent of it are not"


def test_a_video_is_measured_moment_by_moment(tmp_path):
    path, sound = tmp_path / "clip.mkv", np.concatenate([silence(2.0), tone(2.0, loudness=0.5)])
    write_film(path, [*black(16), *board(16)], sound)
    spans = enumerate([(0.0, 2.0), (2.0, 4.0), (0.0, 4.0)])
    moments = [{"desc_id": number, "video": "clip", "start": start, "end": end} for number, (start, end) in spans]
    video = {"video": "clip", "path": str(path), **probe(path)}
    rows = measure_moments(moments, [video], Quality(), PreviousOutput(tmp_path / "measures.jsonl"))
    assert [row["black"] for row in rows] == [1.0, 0.0, 0.5] and [row["frames"] for row in rows] == [4, 4, 8]
    assert rows[0]["loudness"] < -80 and rows[1]["loudness"] == pytest.approx(-9.0, abs=0.2)
    assert [row["text"] for row in rows] == [None] * 3
    for moment in moments[:2]:
        earlier = PreviousOutput(tmp_path / "kept.jsonl", "same")
        (row,) = measure_moments([moment], [video], Quality(), earlier)
        assert row["black"] == rows[moment["desc_id"]]["black"], "not those of another span"


def test_written_text_is_found_and_a_pattern_is_none(tmp_path):
    pytest.importorskip("rapidocr")
    plain = board(4, still=True, blur=3.0)
    assert find_text(plain[0]) < 0.02 < find_text(written(plain, "BREAKING NEWS")[0]) < 0.4
