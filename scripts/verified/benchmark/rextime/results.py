"""Scores of everybody who took the test, by split, with intervals and comparisons to the whole-video baseline."""

import dataclasses
from collections.abc import Iterator, Mapping

import numpy as np

from verified.benchmark.rextime.baselines import expected_random, uniform_random, whole_video
from verified.benchmark.rextime.evaluate import compare, evaluate
from verified.benchmark.rextime.metrics import Scores, measures
from verified.benchmark.rextime.rows import LETTERS, NOT_ANSWERED, Mode, Prediction, Question, read_submission
from verified.benchmark.submissions import list_some
from verified.io.jsonl import iterate_jsonl, read_json

WHOLE_VIDEO = "whole video, A"
RANDOM = "random span and letter"
LENGTH_TOLERANCE = 0.05
"""Share of a video's length, and at least a second, by which a file may differ from what its questions say."""


def score_all(questions: list[Question], submissions: Mapping[str, "System"], seed: int) -> dict:
    """`questions`, `systems` by name, and `expected_random` over all draws, for one file of questions.

    A system has `mode`, `result` (the official output), `intervals` and `against_whole_video`; a fine-tuned one also
    `gain`, the differences from the same model before. A grounder that knows the videos of one data set only is scored
    on their questions, and `questions` says on how many.
    """
    letters = all(question.answer is not None for question in questions)
    mode: Mode = "both" if letters else "grounding"
    baselines = {
        WHOLE_VIDEO: System(mode, whole_video(questions)),
        RANDOM: System(mode, uniform_random(questions, seed)),
    }
    everybody = baselines | dict(submissions)
    evaluations = {
        name: evaluate(questions, system.predictions, system.mode, partial=system.partial, source=name)
        for name, system in everybody.items()
    }
    systems = {}
    for name, evaluation in evaluations.items():
        systems[name] = {
            "mode": evaluation.scores.mode,
            "questions": len(evaluation.scores),
            "result": evaluation.result,
            "intervals": evaluation.intervals(),
            "kinds": _by_kind(questions, evaluation.scores),
            "notes": [
                *evaluation.notes,
                *_unanswered(everybody[name]),
                *_lengths(questions, everybody[name]),
                *_origin(everybody[name]),
            ],
        }
        if name != WHOLE_VIDEO and len(evaluation.scores) == len(questions):
            systems[name]["against_whole_video"] = compare(evaluation.scores, evaluations[WHOLE_VIDEO].scores)
        before = evaluations.get(everybody[name].before)
        if before and before.scores.qids == evaluation.scores.qids:
            systems[name]["gain"] = compare(evaluation.scores, before.scores)
    return {"questions": len(questions), "expected_random": expected_random(questions), "systems": systems}


def _by_kind(questions: list[Question], scores: Scores) -> dict[str, dict]:
    """Questions of each kind, and the means of all measures over them; empty where a question has no kind."""
    kind_of = {question.qid: question.kind for question in questions}
    kinds = np.array([kind_of[qid] or "" for qid in scores.qids])
    if not kinds.all():
        return {}
    measured = measures(scores)
    return {
        kind: {"questions": int((kinds == kind).sum())}
        | {name: float(values[kinds == kind].mean()) for name, values in measured.items()}
        for kind in sorted(set(kinds.tolist()))
    }


def _unanswered(system: "System") -> list[str]:
    answers = system.predictions.values()
    nothing = sum(one.answer is None if system.mode == "vqa" else one.window == NOT_ANSWERED for one in answers)
    return [f"{nothing} of {len(system.predictions)} questions are answered by nothing"] if nothing else []


def _lengths(questions: list[Question], system: "System") -> list[str]:
    """Count of questions whose video has another length than they state: cut otherwise, or another video."""
    others = [
        question
        for question in questions
        if (seconds := system.seconds.get(question.video)) is not None
        and abs(seconds - question.duration) > max(1.0, LENGTH_TOLERANCE * question.duration)
    ]
    if not others:
        return []
    shown = [f"{one.video} ({system.seconds[one.video]:g} s for {one.duration:g})" for one in others]
    named = list_some(list(dict.fromkeys(shown)))
    return [
        f"{len(others)} of {len(questions)} questions were asked about videos of another length than they say: {named}"
    ]


def _origin(system: "System") -> Iterator[str]:
    """Who read free answers, whose weights they are, and what a fine-tuned model learnt from."""
    if system.reader:
        fits = sum(one.answer in LETTERS for one in system.predictions.values())
        yield (
            f"the model answers without options, and {system.reader} reads which option that means ({fits} of "
            f"{len(system.predictions)} mean one); the supplement (D.2) prints free answers and scores none"
        )
    if weights := system.weights:
        yield (
            f"the authors' weights ({weights['imported_from']}, sha256 {weights['imported_sha256'][:16]}), not trained "
            "here on anything"
        )
    if card := system.card:
        yield (
            f"low-rank adapters (rank {card['rank']}, alpha {card['alpha']:g}, seed {card['seed']}) after "
            f"{card['steps']} steps on {card['questions']} questions, sha256 {card['questions_sha256'][:16]}"
        )


@dataclasses.dataclass(frozen=True)
class System:
    """One submission's answers: what they hold, by id, and whether they may cover only some of the questions."""

    mode: Mode
    predictions: dict[str, Prediction]
    partial: bool = False
    before: str = ""
    """Name of the system that it was fine-tuned from."""
    reader: str = ""
    """Who read the letters out of free answers."""
    card: Mapping | None = None
    """Card of the adapters that it was fine-tuned by."""
    seconds: Mapping[str, float] = dataclasses.field(default_factory=dict)
    """Lengths of the videos that it was shown, where they are known."""
    weights: Mapping | None = None
    """Origin of published weights."""


def submissions_of(questions: list[Question], systems: Mapping[str, Mapping], name: str) -> dict[str, System]:
    """Who took the test on the questions of this `name`.

    Systems each have a ``mode`` and ``files``. One that names its ``questions`` has to answer all of these and no
    others; of any other system, what it says of these questions is taken, and it is omitted where that is nothing. Free
    answers to questions without options have no letters, and are omitted too.
    """
    asked = {question.qid for question in questions}
    submissions = {}
    for system_name, system in systems.items():
        if system.get("questions", name) != name:
            continue
        if "reader" in system and not any("ans" in row for file in system["files"] for row in iterate_jsonl(file)):
            continue
        predictions: dict[str, Prediction] = {}
        mode = system["mode"]
        for file in system["files"]:
            mode, read = read_submission(file, system["mode"], may_be_empty=True)
            predictions |= read
        if "questions" not in system:
            predictions = {qid: prediction for qid, prediction in predictions.items() if qid in asked}
        if predictions or "questions" in system:
            submissions[system_name] = System(
                mode,
                predictions,
                partial="questions" not in system,
                before=system.get("before", ""),
                reader=system.get("reader", ""),
                card=read_json(system["card"]) if "card" in system else None,
                seconds={
                    row["video"]: row["duration"] for file in system.get("videos", ()) for row in iterate_jsonl(file)
                },
                weights=read_json(system["weights"][0]) if "weights" in system else None,
            )
    return submissions
