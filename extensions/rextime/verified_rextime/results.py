"""Scores of everybody who took the test, by split, with intervals and comparisons to the whole-video baseline."""

import dataclasses
import random
from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from verified.benchmark.submissions import list_some
from verified.io.jsonl import iterate_jsonl, read_json
from verified.runtime.seeds import derive_seed
from verified_rextime.evaluate import compare, evaluate
from verified_rextime.metrics import Scores, measures
from verified_rextime.rows import LETTERS, NOT_ANSWERED, Mode, Prediction, Question, read_submission


def whole_video(questions: Iterable[Question]) -> dict[str, Prediction]:
    """Baseline with the whole video as window and letter A."""
    return {question.qid: Prediction((0.0, question.duration), "A") for question in questions}


def uniform_random(questions: Iterable[Question], seed: int) -> dict[str, Prediction]:
    """A random span and a random letter for each question; a function of seed and id."""
    predictions = {}
    for question in questions:
        draw = random.Random(derive_seed(seed, "rextime random", question.qid))
        start, end = sorted(draw.uniform(0, question.duration) for _ in range(2))
        predictions[question.qid] = Prediction((start, end), draw.choice(LETTERS))
    return predictions


def submission_rows(predictions: dict[str, Prediction]) -> list[dict]:
    """Rows in the form of a submission."""
    rows = []
    for qid, prediction in predictions.items():
        row: dict = {"qid": qid}
        if prediction.window is not None:
            row["pred_relevant_windows"] = [[round(value, 3) for value in prediction.window]]
        if prediction.answer is not None:
            row["ans"] = prediction.answer
        rows.append(row)
    return rows


WHOLE_VIDEO = "whole video, A"
RANDOM = "random span and letter"
LENGTH_TOLERANCE = 0.05
"""Share of a video's length, and at least a second, by which a file may differ from its questions' duration."""


def score_all(questions: list[Question], submissions: Mapping[str, "System"], seed: int) -> dict:
    """`questions` and `systems` by name, for one file of questions.

    A system has `mode`, `result` (the official output), `intervals` and `against_whole_video`; a fine-tuned one also
    `gain`, the differences from the same model before. A grounder that knows the videos of one data set only is scored
    on their questions, and `questions` is their number.
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
    return {"questions": len(questions), "systems": systems}


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
    nothing = sum(
        answer.answer is None if system.mode == "vqa" else answer.window == NOT_ANSWERED for answer in answers
    )
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
    lengths = [f"{answer.video} ({system.seconds[answer.video]:g} s for {answer.duration:g})" for answer in others]
    named = list_some(list(dict.fromkeys(lengths)))
    return [
        f"{len(others)} of {len(questions)} questions were asked about videos of another length than they say: {named}"
    ]


def _origin(system: "System") -> Iterator[str]:
    """The origin of weights, and the training data of a fine-tuned model."""
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
    """One submission's answers: their mode, by id, and whether they may cover only some of the questions."""

    mode: Mode
    predictions: dict[str, Prediction]
    partial: bool = False
    before: str = ""
    """Name of the system that it was fine-tuned from."""
    card: Mapping | None = None
    """Card of the adapters that it was fine-tuned by."""
    seconds: Mapping[str, float] = dataclasses.field(default_factory=dict)
    """Lengths of the videos that it was shown, if known."""
    weights: Mapping | None = None
    """Origin of published weights."""


def submissions_of(questions: list[Question], systems: Mapping[str, Mapping], name: str) -> dict[str, System]:
    """Test takers on the questions of this `name`.

    Systems each have a ``mode`` and ``files``. One that names its ``questions`` must answer exactly these; of any other
    system, its answers to these questions are used, and it is omitted without any.
    """
    ids = {question.qid for question in questions}
    submissions = {}
    for system_name, system in systems.items():
        if system.get("questions", name) != name:
            continue
        predictions: dict[str, Prediction] = {}
        mode = system["mode"]
        for file in system["files"]:
            mode, read = read_submission(file, system["mode"], may_be_empty=True)
            predictions |= read
        if "questions" not in system:
            predictions = {qid: prediction for qid, prediction in predictions.items() if qid in ids}
        if predictions or "questions" in system:
            submissions[system_name] = System(
                mode,
                predictions,
                partial="questions" not in system,
                before=system.get("before", ""),
                card=read_json(system["card"]) if "card" in system else None,
                seconds={
                    row["video"]: row["duration"] for file in system.get("videos", ()) for row in iterate_jsonl(file)
                },
                weights=read_json(system["weights"][0]) if "weights" in system else None,
            )
    return submissions
