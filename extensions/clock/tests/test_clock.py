"""The verdict on a clock, by simulated answers and by the demo's engine."""

import dataclasses
import json
from collections import Counter

import numpy as np
import pytest
import yaml
from running import PROJECT, ended_well

from verified.config import load
from verified.runtime.digest import modules_behind
from verified_clock.clip import DURATION, EVENTS, SAMPLINGS, first_frames
from verified_clock.stage import before, problem, result
from verified_clock.tasks import VIDEO, read_seconds
from verified_clock.verdict import CANNOT, COUNTS, IGNORES, KEEPS, KEEPS_EVEN, SCALES, judge

NANO = yaml.safe_load((PROJECT / "config/nano.yaml").read_text(encoding="utf-8"))
KINDS = {  # verdict → answer from the second t, the frame n and the number of frames
    KEEPS: (lambda t, n, frames: t, lambda t, n, frames: t + 0.75),
    KEEPS_EVEN: (lambda t, n, frames: DURATION * n / frames,),
    COUNTS: (lambda t, n, frames: n, lambda t, n, frames: n + 1),
    IGNORES: (lambda t, n, frames: n / 2, lambda t, n, frames: n / 24),
    SCALES: (lambda t, n, frames: 10 * t, lambda t, n, frames: t / DURATION, lambda t, n, frames: t + 3),
    CANNOT: (lambda t, n, frames: 3.0, lambda t, n, frames: DURATION - t),
}


def answers(kind, noise=lambda: 0.0) -> dict:
    times = list(EVENTS.values())
    return {
        name: [kind(t, n, len(seconds)) + noise() for t, n in zip(times, first_frames(seconds))]
        for name, seconds in SAMPLINGS.items()
    }


@pytest.mark.parametrize("verdict, kind", [(name, kind) for name, kinds in KINDS.items() for kind in kinds])
def test_each_kind_of_clock_is_named(verdict, kind):
    assert judge(answers(kind), 0.75).name == verdict


@pytest.mark.parametrize(
    "verdict, kind", [(KEEPS, KINDS[KEEPS][0]), (COUNTS, KINDS[COUNTS][0]), (IGNORES, KINDS[IGNORES][0])]
)
def test_noise_of_a_third_of_a_second_hides_no_kind(verdict, kind):
    rng = np.random.default_rng(0)
    found = Counter(judge(answers(kind, lambda: rng.normal(0, 0.33)), 0.75).name for _ in range(300))
    assert found[verdict] >= 285, found


def test_an_edit_of_the_answers_of_the_demo_runs_the_job_again():
    assert "verified_clock.scene_reader" in modules_behind(PROJECT / "extensions/clock/scripts/ask_model.py")


def test_slope_offset_and_rate_are_of_the_answers():
    verdict = judge(answers(lambda t, n, frames: 2 * t + 1), 0.75)
    assert (verdict.slope, verdict.offset) == pytest.approx((2, 1))
    assert judge(answers(lambda t, n, frames: n / 2), 0.75).rate == pytest.approx(2)
    without = {**answers(lambda t, n, frames: t), "1 frame a second": None}
    assert judge(without, 0.75).name == CANNOT


@pytest.mark.parametrize(
    "text, read",
    [
        ('{"seconds": [1, 4.0, 6]}', "1 4 6"),
        ('Sure: {"seconds": ["1.0 s", "0:04", "00:00:06.5"]}', "1 4 6.5"),
        ('{"seconds": [1, 4]}', None),
        ("I cannot tell.", None),
    ],
)
def test_seconds_are_read_in_any_form(text, read):
    assert read_seconds({}, text, 1, False).sections.get("seconds") == read


def test_jobs_whose_tasks_need_times_wait_for_the_test():
    settings = load({**NANO, "clock": {}})
    timed = dataclasses.replace(VIDEO, needs_times=True)
    assert before(settings, [VIDEO]) == [] and before(settings, [VIDEO, timed]) == [result(settings)]
    replayed = {**NANO, "clock": {}, "generation": {"video_lmm": {"engine": "cassette", "model": "m", "cassette": "c"}}}
    assert before(load(replayed), [timed]) == before(load(NANO), [timed]) == []


def test_a_wrong_clock_is_named_with_the_tasks_that_it_spoils_and_a_form_that_works():
    right, wrong = judge(answers(KINDS[KEEPS][0]), 0.75), judge(answers(KINDS[IGNORES][0]), 0.75)
    message, remedy = problem({"frames": wrong, "stills": right}, "frames", ["x/locate"]) or ("", "")
    assert "as if there were 2 a second" in message and "x/locate" in message and "to stills" in remedy
    assert problem({"frames": wrong, "stills": right}, "stills", ["x/locate"]) is None


def test_a_run_records_the_clock_of_the_demos_engine(tmp_path):
    config = tmp_path / "clock.yaml"
    config.write_text(yaml.safe_dump({"layers": [str(PROJECT / "config/nano.yaml")], "clock": {}}))
    ended_well(tmp_path, "--cores", "1", "results/nano/clock/video_lmm.json", config=config)
    found = json.loads((tmp_path / "results/nano/clock/video_lmm.json").read_text())
    assert found["forms"]["stills"]["verdict"] == KEEPS
