"""Questions from captions and queries: routing, counts that reconcile, nothing asked twice, answers that are true."""

import dataclasses
import itertools
import json

import pytest
from captioning import settings as generation_settings

from verified.demo.caption_facts import agreement, caption_facts
from verified.demo.source import render_demo
from verified.io.jsonl import read_jsonl, write_jsonl
from verified.io.video import probe
from verified.lmm.request import Reply
from verified.lmm.session import Session
from verified_rextime import tasks
from verified_rextime.answer import TASKS, take_test
from verified_rextime.config import Rextime, Routing
from verified_rextime.generate import route, shard_counts, spans_problem, write_questions
from verified_rextime.metrics import best_iou
from verified_rextime.results import score_all, submissions_of
from verified_rextime.rows import read_questions
from verified_rextime.scene_reader import relation
from verified_rextime.sources import read_sources

RULES = Rextime(sources={form: {"form": form, "dataset": "demo"} for form in ("captions", "queries")}, frames=60)


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    source = {"videos": 6, "seconds": 16, "fps": 8, "size": 112, "train_share": 0.3, "val_share": 0.2}
    render_demo(source, 5, folder / "videos", folder / "moments.jsonl", folder / "truth.jsonl")
    videos = {
        path.stem: {"video": path.stem, "path": str(path), "sha256": path.stem, **probe(path)}
        for path in sorted((folder / "videos").glob("*.mp4"))
    }
    moments = [row | {"split": "val"} for row in read_jsonl(folder / "moments.jsonl")]
    write_jsonl(folder / "moments.jsonl", [*moments, moments[0] | {"split": "train", "caption": "of another split"}])
    write_jsonl(folder / "videos.jsonl", videos.values())
    items = read_sources(RULES, {"demo": str(folder)})[0]
    assert "of another split" not in json.dumps(items)
    truth = {row["video"]: row["events"] for row in read_jsonl(folder / "truth.jsonl")}
    return [item | {"split": ("test", "val")[number % 2]} for number, item in enumerate(items)], videos, truth


def written(demo, folder, rules=RULES, engines=None, items=None, **changes):
    given, videos, _ = demo
    with Session(generation_settings(folder, **changes), 7, tasks.GENERATION, engines) as session:
        questions, _, fates = write_questions(items or given, videos, session, rules)
        made = sum(asker.calls_made for asker in session.askers.values())
        return questions, fates, session.outcome_counts(), made


def test_every_item_and_question_has_one_fate_and_nothing_is_asked_twice(demo, tmp_path):
    questions, fates, calls, made = written(demo, tmp_path)
    items = {item["item"] for item in demo[0]}
    assert {fate["item"] for fate in fates} == items
    without = [fate["item"] for fate in fates if "question" not in fate]
    assert len(without) == len(set(without)) and not set(without) & {f["item"] for f in fates if "question" in f}
    named = [fate["question"] for fate in fates if "question" in fate]
    assert len(named) == len(set(named))
    kept = [fate["question"] for fate in fates if fate["reason"] == "kept"]
    assert "kept-to-mark" in {fate["reason"] for fate in fates}
    assert sorted(kept) == sorted(row["qid"] for row in questions)
    counts = shard_counts(demo[0], questions, [], fates, calls)
    assert sum(counts["fates"].values()) == len(fates)
    assert counts["items"]["given"] == len(items)
    assert made > 0
    again = written(demo, tmp_path)
    assert again[:2] == (questions, fates) and again[3] == 0


def test_questions_are_in_the_released_form_with_their_options(demo, tmp_path):
    questions = written(demo, tmp_path)[0]
    assert len(questions) >= 6
    for row in questions:
        assert list(row)[:5] == ["qid", "query", "duration", "vid", "relevant_windows"]
        assert len(set(row["options"])) == 4 and row["options"]["ABCD".index(row["ans"])] == row["answer"]
        (start, end), *more = row["relevant_windows"]
        assert 0 <= start < end <= row["duration"] and not more
        if row["question_windows"]:
            asked = row["question_windows"][0]
            assert (asked[0] < start) == (row["direction"] == "forward")
    assert {row["kind"] for row in questions} <= set(tasks.QUESTIONS) and len({row["ans"] for row in questions}) > 1
    assert all(row["lineage"].keys() >= {"questions", "verification", "options"} for row in questions)


CLAIMED = {
    "sequential": ("sequential", "cause_effect", "means_to_an_end"),
    "cause_effect": ("cause_effect", "means_to_an_end"),
    "means_to_an_end": ("means_to_an_end",),
}
"""Relations of the truth that support a kind's claim: a means is also a cause, and both follow in time."""


def true_answers(question, answer, events):
    """Events that answer a question: next to one that it names, in the order and relation that its kind claims."""

    def fits(text, event):
        stated = caption_facts(text)
        return {"shape", "motion"} <= stated.keys() and all(agreement(stated, event["facts"]).values())

    found = []
    for first, second in itertools.pairwise(sorted(events, key=lambda event: event["start"])):
        named, answering = (first, second) if question["direction"] == "forward" else (second, first)
        claim = relation(first["facts"], second["facts"], second["start"] - first["end"])
        if claim in CLAIMED[question["kind"]] and fits(question["query"], named) and fits(answer, answering):
            found.append(answering)
    return found


def test_the_demo_s_questions_are_true_but_for_what_was_corrupted(demo, tmp_path):
    (tmp_path / "honest").mkdir()
    questions, fates, _, _ = written(demo, tmp_path / "honest", scene_reader={"corrupted_share": 0.0})
    captioned = [row for row in questions if row["source"] == "captions"]
    assert captioned
    for row in captioned:
        events = demo[2][row["vid"]]
        answers = true_answers(row, row["answer"], events)
        assert any(best_iou(row["relevant_windows"][0], [(one["start"], one["end"])]) >= 0.5 for one in answers)
        assert not any(true_answers(row, text, events) for text in row["options"] if text != row["answer"])
    corrupted, fates, _, _ = written(demo, tmp_path, scene_reader={"corrupted_share": 1.0})
    assert all(len({note["question"] for note in row["corrupted"] if "question" in note}) <= 1 for row in corrupted)
    dropped = [fate for fate in fates if fate["reason"] == "verification-score-0"]
    assert dropped  # an answer that repeats the question is noticed
    assert not any(true_answers(fate, fate["answer"], demo[2][fate["vid"]]) for fate in dropped)
    false = [row for row in corrupted if any(note.get("kind") == "false" for note in row["corrupted"])]
    assert false  # and one that says something false of its event is not
    assert sum(bool(true_answers(row, row["answer"], demo[2][row["vid"]])) for row in false) <= len(false) // 4


def test_the_demo_s_engine_answers_better_than_chance(demo, tmp_path):
    write_jsonl(tmp_path / "questions.jsonl", written(demo, tmp_path, scene_reader={"corrupted_share": 0.0})[0])
    with Session(generation_settings(tmp_path), 7, TASKS["answer_with_span"]) as session:
        rows = read_jsonl(tmp_path / "questions.jsonl")
        submission, failures = take_test(rows, demo[1], "answer_with_span", 64, session)
    assert not failures
    write_jsonl(tmp_path / "answers.jsonl", submission)
    truth = read_questions(tmp_path / "questions.jsonl")
    system = {"mode": "both", "files": [tmp_path / "answers.jsonl"]}
    scores = score_all(truth, submissions_of(truth, {"reader": system}, "test"), seed=1)
    reader, drawn = (scores["systems"][name] for name in ("reader", "random span and letter"))
    assert reader["result"]["brief"]["VQA"] >= 0.5
    least = max(40, drawn["result"]["brief"]["MR-full-mIoU"])
    assert reader["result"]["brief"]["MR-full-mIoU"] > least
    assert reader["against_whole_video"][0]["measure"] == "mIoU"


def test_a_question_of_the_wrong_order_or_relation_is_not_true():
    ball, box = {"shape": "ball", "motion": "bounces"}, {"shape": "box", "motion": "grows"}
    events = [{"start": 0, "end": 2, "facts": ball}, {"start": 2.5, "end": 5, "facts": box}]
    after = {"query": "What happens after a ball bounces?", "kind": "sequential", "direction": "forward"}
    assert true_answers(after, "A box grows.", events) == events[1:]
    assert not true_answers(after, "A box shrinks.", events)
    assert not true_answers(after | {"query": "What happens after a box grows?"}, "A ball bounces.", events)
    assert true_answers(after | {"kind": "cause_effect"}, "A box grows.", events)
    assert not true_answers(after | {"kind": "means_to_an_end"}, "A box grows.", events)
    events[1]["start"] = 4.0
    assert not true_answers(after | {"kind": "cause_effect"}, "A box grows.", events)


@pytest.mark.parametrize(
    "scores, kind",
    [
        ((3, 3, 3, 3, 2), "similar"),
        ((2, 2, 0, 2, 1), "means_to_an_end"),
        ((2, 2, 1, 1, 0), "cause_effect"),
        ((3, 1, 3, 3, 0), "sequential"),
        ((0, 0, 0, 0, 3), "similar"),
    ],
)
def test_scores_decide_the_kind_by_the_configured_thresholds(scores, kind):
    named = dict(zip(("directness", "necessity", "intentionality", "purpose", "similarity"), scores))
    assert route(named, Routing()) == kind
    assert route(named, Routing(similar_from=4, causal_from=0, purposeful_from=0)) == "means_to_an_end"


@pytest.mark.parametrize(
    "spans, problem",
    [
        (((0, 5), (5, 9)), None),
        (((0, 5), (0, 5)), "same-span"),
        (((6, 9), (0, 5)), "not-in-order"),
        (((0, 0), (1, 2)), "span-without-length"),
        (((0, 5), (8, 12)), "span-outside"),
        (((-1, 5), (8, 9)), "span-outside"),
    ],
)
def test_spans_that_cannot_be_are_named(spans, problem):
    assert spans_problem(spans, 10.5) == problem


@dataclasses.dataclass
class Scripted:
    """An engine whose text per task is given; the demo's answers where none is."""

    texts: dict
    engine: object
    name: str = "scripted"
    model: str = "scripted-1"
    revision: str = ""

    def answer(self, requests):
        for request in requests:
            text = self.texts.get(request.task.removeprefix("rextime/"))
            yield Reply(text) if text is not None else next(iter(self.engine.answer([request])))


@pytest.mark.parametrize(
    "texts, reason",
    [
        ({"event_pair": "no idea"}, "event-pair-invalid-unreadable"),
        ({"event_pair": "late"}, "event-pair-span-outside"),
        ({"event_pair": "similar"}, "event-pair-similar"),
        ({"verification": "?"}, "verification-invalid-unreadable"),
        ({"verification": '{"case_1_score": 2, "case_2_score": 2}'}, "verification-score-2"),
        ({"options": "?"}, "options-invalid-unreadable"),
    ],
)
def test_wrong_answers_are_dropped_with_their_reason(texts, reason, demo, tmp_path):
    from verified.demo.scene_reader import SceneReader

    pair = {"event1": "x", "event1_timestamp": [0, 2], "event2": "y", "event2_timestamp": [3, 5]}
    scores = dict.fromkeys(("Directness", "Necessity", "Intentionality", "Purpose", "Similarity"), 0)
    named = {
        "late": json.dumps(pair | scores | {"event2_timestamp": [3, 500]}),
        "similar": json.dumps(pair | scores | {"Similarity": 3}),
    }
    texts = {task: named.get(text, text) for task, text in texts.items()}
    engine = Scripted(texts, SceneReader(corrupted_share=0.0))
    items = [item for item in demo[0] if item["form"] == "captions"]
    questions, fates, _, _ = written(demo, tmp_path, engines={"llm": engine, "video_lmm": engine}, items=items)
    assert not questions and {fate["reason"] for fate in fates} == {reason}
