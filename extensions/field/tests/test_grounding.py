"""A video LMM after a first stage: prompts, parsers, pairs, lists, costs; and the demo's reader as that LMM."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from loopback import Scripted, completion, endpoint, images_of, prompt_of
from media import counted
from refusals import refused

from verified.benchmark.lists import Lists
from verified.benchmark.vcmr.data import Moments
from verified.benchmark.vcmr.results import SETTINGS
from verified.benchmark.vcmr.submission import write_submission
from verified.config import load
from verified.config.generation import Generation
from verified.demo.source import write_video
from verified.io.jsonl import write_jsonl
from verified.layout import Layout
from verified.lmm.session import Session
from verified.lmm.tasks import structured_form
from verified_field.calls import follow_up_calls
from verified_field.config import Grounder, Reranker
from verified_field.grounding import costs, ground, pairs_to_grade, pairs_to_ground, read_first_stage, rerank
from verified_field.runs import first_stage as first_stage_of
from verified_field.runs import follow_facts
from verified_field.tasks import GRADE, GROUND, moments_of, read_grade, read_moments


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"moments": [{"start": 1, "end": 2.5, "confidence": 8}]}', [(1, 2.5, 8)]),
        ('```json\n{"moments": [{"start": "0:03", "end": "4 s"}], }\n```', [(3, 4, 5)]),
        ("[[1, 2, 9], [4, 5, 3]]", [(1, 2, 9), (4, 5, 3)]),
        ('Sure! {"moments": [[1, 2]]}', [(1, 2, 5)]),
        ('{"start": 2, "end": 6, "confidence": "7/10"}', [(2, 6, 7)]),
        ("[3, 8]", [(3, 8, 5)]),
        ('{"relevant_windows": [["0:03", "00:08.5"], ["12 s", "14 s"]]}', [(3, 8.5, 5), (12, 14, 5)]),
        ('{"pred_relevant_windows": ["0:03", "8"]}', [(3, 8, 5)]),
        ('{"moments": [{"start": -3, "end": 5, "confidence": 8}]}', [(0, 5, 8)]),
        ("It happens from 12.5 to 00:30.", [(12.5, 30, 5)]),
        ('{"moments": []}', []),
        ("[]", []),
        ("The video does not show it.", []),
    ],
)
def test_moments_are_read_from_json_and_from_words(text, found):
    parsed = read_moments({}, text, 1, False)
    assert parsed.usable and not parsed.missing
    assert moments_of(parsed.sections["moments"]) == found


def three_videos(tmp_path, seconds=(4.0, 6.0, 5.0)):
    """Rows of videos.jsonl and moments: query n asks for video n."""
    videos = {}
    for number, length in enumerate(seconds):
        path = tmp_path / f"v{number}.mp4"
        write_video(path, np.stack(counted(int(8 * length))), 8)
        size = {"width": 64, "height": 48, "duration": length, "sha256": f"digest {number}"}
        videos[f"v{number}"] = {"video": f"v{number}", "path": str(path), **size}
    moments = Moments(
        desc_id=np.array([7, 8, 9]),
        video=np.array([0, 1, 2]),
        time=np.array([[1.0, 2.0]] * 3),
        caption=["first", "second", "third"],
        videos=list(videos),
        file=tmp_path / "test.jsonl",
    )
    return videos, moments


def first_stage():
    """Every query is given the videos 1, 2, 0, with two moments of each."""
    order = np.array([[1, 2, 0]] * 3)
    zeros = np.zeros((3, 3))
    vr = Lists(order, zeros, zeros, np.array([[3.0, 2.0, 1.0]] * 3))
    video = np.repeat(order, 2, axis=1)
    start, end = np.tile([0.0, 2.0], (3, 3)), np.tile([2.0, 3.0], (3, 3))
    vcmr = Lists(video, start, end, np.tile(np.arange(6, 0, -1.0), (3, 1)))
    own = np.array([[0, 0], [1, 1], [2, 2]])
    svmr = Lists(own, start[:, :2], end[:, :2], np.tile([2.0, 1.0], (3, 1)))
    return {"VCMR": vcmr, "SVMR": svmr, "VR": vr}


def seconds_of(body: dict) -> int:
    """The length of the video that a request shows."""
    return int(float(prompt_of(body).split(" video of ")[1].split()[0]))


def asked(tmp_path, url, **more):
    values = {"engine": "openai", "model": "watcher-1", "base_url": url, "retries": 0, "api_slots": 1, **more}
    return Generation.model_validate({"ledger": str(tmp_path / "ledger"), "video_lmm": values})


def test_pairs_hold_the_best_videos_and_the_own_one():
    moments = Moments(np.array([7, 8, 9]), np.array([0, 1, 2]), np.zeros((3, 2)), [""] * 3, ["a", "b", "c"], Path())
    pairs = pairs_to_ground(first_stage(), moments, [4.0, 6.0, 5.0], 1)
    expected = [(0, 0, 4.0), (0, 1, 6.0), (1, 1, 6.0), (2, 1, 6.0), (2, 2, 5.0)]
    assert [(pair.query, pair.video, pair.end) for pair in pairs] == expected
    graded = pairs_to_grade(first_stage(), [4.0, 2.5, 5.0], 1)
    assert {(pair.query, pair.video) for pair in graded} == {(0, 0), (0, 1), (1, 1), (2, 1), (2, 2)}
    assert all(pair.end <= 2.5 for pair in graded if pair.video == 1)


def test_the_grounders_moments_come_first_by_confidence_and_what_is_not_shown_sinks(tmp_path):
    videos, moments = three_videos(tmp_path)
    said = {4: [[1.0, 2.0, 9], [3.0, 99.0, 4]], 6: [], 5: [[0.5, 1.5, 6]]}

    def answer(number, body):
        moments = [dict(zip(("start", "end", "confidence"), one)) for one in said[seconds_of(body)]]
        return completion(json.dumps({"moments": moments}))

    with endpoint(answer) as served:
        with Session(asked(tmp_path, served.url, price_in=1e6), 1, (GROUND,)) as session:
            lists, cost = ground(first_stage(), moments, videos, Grounder(videos=3, frames=4), session)
        assert len(served.bodies) == 9 and len(images_of(served.bodies[0])) == 4
        with Session(asked(tmp_path, served.url, price_in=1e6), 1, (GROUND,)) as session:
            again, same = ground(first_stage(), moments, videos, Grounder(videos=3, frames=4), session)
        assert len(served.bodies) == 9 and same == cost
    assert cost == {"per_query": {"calls": 3, "tokens_in": 36, "tokens_out": 12, "money": 36}, "without_answer": 0}
    vcmr = lists["VCMR"]
    assert vcmr.video[0, :4].tolist() == [0, 2, 0, 1]
    assert np.column_stack([vcmr.start[0, :3], vcmr.end[0, :3]]).tolist() == [[1, 2], [0.5, 1.5], [3, 4]]
    assert vcmr.counts().tolist() == [9, 9, 9] and (np.diff(vcmr.score[0]) < 0).all()
    assert lists["VR"].video[0].tolist() == [0, 2, 1]
    assert lists["SVMR"].counts().tolist() == [4, 2, 3] and lists["SVMR"].start[1, :2].tolist() == [0, 2]
    assert np.array_equal(again["VCMR"].score, vcmr.score)


def test_a_video_without_an_answer_stays_before_those_that_are_not_shown(tmp_path):
    videos, moments = three_videos(tmp_path)

    def answer(number, body):
        if seconds_of(body) == 5:
            return Scripted(400, b'{"error": {"message": "no", "code": ""}}')
        return completion('{"moments": []}')

    with endpoint(answer) as served, Session(asked(tmp_path, served.url), 1, (GROUND,)) as session:
        lists, cost = ground(first_stage(), moments, videos, Grounder(videos=3, frames=2), session)
    assert lists["VR"].video[0].tolist() == [2, 1, 0] and cost["without_answer"] == 3
    assert lists["VCMR"].video[0].tolist() == [1, 1, 2, 2, 0, 0]


def test_graded_moments_come_first_and_equals_keep_their_order(tmp_path):
    videos, moments = three_videos(tmp_path)

    def answer(number, body):
        return completion('{"grade": 9}' if "clip of 1 seconds" in prompt_of(body) else "4")

    with endpoint(answer) as served, Session(asked(tmp_path, served.url), 1, (GRADE,)) as session:
        lists, cost = rerank(first_stage(), moments, videos, Reranker(moments=4, frames=2), session)
    assert lists["VCMR"].video[0].tolist() == [1, 2, 1, 2, 0, 0]
    assert lists["VCMR"].start[0].tolist() == [2, 2, 0, 0, 0, 2]
    assert lists["SVMR"].start.tolist() == [[2, 0]] * 3
    assert lists["VR"].video[0].tolist() == [1, 2, 0]
    assert cost["per_query"]["calls"] == pytest.approx((3 * 4 + 2) / 3)


def test_any_submission_is_a_first_stage(tmp_path):
    _, moments = three_videos(tmp_path)
    file = tmp_path / "submission.json.gz"
    videos = ["v2", "v0", "v1", "elsewhere"]
    renumbered = {
        task: Lists(np.array([1, 2, 0])[lists.video], lists.start, lists.end, lists.score)
        for task, lists in first_stage().items()
    }
    write_submission(file, videos, moments.desc_id, moments.caption, renumbered)
    read = read_first_stage(str(file), moments)
    for task, lists in first_stage().items():
        assert np.array_equal(read[task].video, lists.video)
    write_submission(
        file, videos, moments.desc_id[:2], moments.caption, {k: v.take(slice(2)) for k, v in renumbered.items()}
    )
    with refused("VCMR", "9"):
        read_first_stage(str(file), moments)


@pytest.mark.parametrize(
    ("text", "grade"),
    [('{"grade": 7}', "7"), ('{"Grade": "7/10"}', "7"), ("8 / 10", "8"), ("Grade: 3", "3"), ("0", "0")],
)
def test_grades_are_read_from_json_and_from_words(text, grade):
    assert read_grade({}, text, 1, False).sections == {"grade": grade}
    assert read_grade({}, "between 3 and 8", 1, False).missing


def test_equal_calls_cost_once_and_the_settings_of_a_row_decide_it():
    outcome = SimpleNamespace(key="k", attempts=2, tokens_in=6, tokens_out=4, cost=1.5, status="error")
    spent = {"calls": 0.5, "tokens_in": 1.5, "tokens_out": 1.0, "money": 0.375}
    assert costs([outcome, outcome], 4) == {"per_query": spent, "without_answer": 1}
    stages = [first_stage_of(name) for name in ("xml-grounded-reranked", "dense", "xml-grounded")]
    assert stages == ["xml", "dense", "xml"]
    run = SimpleNamespace(dataset="d", first="xml", trained_on="fig", tested_on="fig", seed="7")
    base = {"name": "m", "datasets": {"d": {"title": "D", "source": {"kind": "demo"}}}}
    changes = ({}, {"seed": 5}, {"field": {"grounder": {"frames": 9}}}, {"field": {"reranker": {"frames": 9}}})
    facts = [follow_facts(load({**base, **change}), "grounder", run) for change in changes]
    assert len({each[SETTINGS] for each in facts}) == 3, "the re-ranker decides nothing here"


@pytest.mark.parametrize("task", [GROUND, GRADE], ids=lambda task: task.name)
def test_schema_ending_and_example_of_a_task_agree(task):
    schema, ending = structured_form(task, 2)
    assert all(f'"{name}"' in ending for name in schema["required"])
    example = task.example(2, "0123456789abcdef")
    assert example.usable and not example.missing


def test_a_quote_takes_the_divided_split_and_supposes_the_true_video(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = {"first_stages": ["xml"], "videos": 2}
    values = {"name": "m", "datasets": {"d": {"title": "D", "source": {"kind": "demo"}}}, "field": {"grounder": rows}}
    settings = load({**values, "retrieval": {"models": ["xml"], "seeds": [4, 7]}})
    write_jsonl(
        Layout(settings).path(Layout.moments, "d"), [{"desc_id": n, "split": ("val", "test")[n]} for n in (0, 1)]
    )
    shards = [([{"desc_id": n, "split": "test"} for n in (0, 1)], {})]
    with Session(asked(tmp_path, "http://127.0.0.1:9/v1"), 1, (GROUND,)) as session:
        assert len([*follow_up_calls("d", settings, GROUND, shards, session)]) == 1 * 3 * 2
