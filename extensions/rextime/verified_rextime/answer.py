"""A video LMM takes the test, by the protocols of the supplement (section C.5) and of the authors' demo.

`answer_with_span`: frames, question and options in one call; the answer has a letter and a span.
`locate_then_score`: the model answers with a time, its span is read from words, and each option is scored as the
continuation "From ss to ee, OPTION" of the question; the one with the largest mean log-probability wins (the
pseudo-code of the supplement says largest cross entropy, a slip). `score_with_true_span` scores the options after the
true span, as for the zero-shot models; its windows are those of the model. The scoring needs the engine
`transformers`. `free` is the question alone, as in section D.2, whose answers are shown and not scored.
"""

from collections.abc import Iterable, Mapping

from verified.config.generation import Generation
from verified.errors import InputError
from verified.lmm.client import Call
from verified.lmm.request import Engine, Outcome
from verified.lmm.session import Session
from verified.lmm.tasks import Task
from verified_rextime.config import FREE
from verified_rextime.generate import option_lines, whole_video_calls
from verified_rextime.rows import LETTERS
from verified_rextime.tasks import ANSWER_WITH_SPAN, FREE_ANSWER, LOCATE, SCORING, span_of

TASKS = {
    "answer_with_span": (ANSWER_WITH_SPAN,),
    "locate_then_score": (LOCATE, SCORING),
    "score_with_true_span": (LOCATE, SCORING),
    FREE: (FREE_ANSWER,),
}
"""Tasks of each protocol, for questions with options; the question's task comes first."""
NOT_PARSED = (0.0, 0.0)
"""Placeholder span of an answer without one: it overlaps with nothing."""


def tasks_for(protocol: str, questions: Iterable[Mapping]) -> tuple[Task, ...]:
    """Tasks of a protocol for these questions: without options, when the answer is shown, or the answer itself."""
    return TASKS[protocol] if protocol == FREE or not without_options(questions) else (LOCATE,)


def without_options(questions: Iterable[Mapping]) -> bool:
    """Whether the questions have no options in their file (None), rather than an empty list of them."""
    return any(row["options"] is None for row in questions)


def take_test(
    questions: list[dict], videos: Mapping[str, dict], protocol: str, frames: int, session: Session
) -> tuple[list[dict], list[dict]]:
    """(rows of a submission, one for each question with options; questions without an answer, with the reason).

    Of questions without options, the rows have spans alone; those of free answers have their ``text``, or None. A
    question without a usable video, and an unreadable answer, get [0, 0] and no letter, which count as wrong.
    """
    no_options = without_options(questions)
    tested = [row for row in questions if row["options"] or no_options]
    tested.sort(key=lambda row: (row["vid"], row["qid"]))
    items = [{"item": row["qid"], "video": row["vid"]} for row in tested if row["vid"] in videos]
    rows = {row["qid"]: row for row in tested}
    failures = [{"qid": row["qid"], "reason": "video-not-usable"} for row in tested if row["vid"] not in videos]
    task = tasks_for(protocol, questions)[0]
    slots = [_slots(rows[item["item"]], task, frames) for item in items]
    calls = whole_video_calls(task, items, slots, videos, session, frames)
    answered = dict(zip((item["item"] for item in items), session.ask(task, calls, len(calls))))
    if protocol == FREE:
        texts = {qid: outcome.parsed.sections.get("text") for qid, outcome in answered.items()}
        failures += [_failure(qid, outcome) for qid, outcome in answered.items() if texts[qid] is None]
        return [{"qid": row["qid"], "text": texts.get(row["qid"])} for row in tested], failures
    spans = {qid: _span(outcome) for qid, outcome in answered.items()}
    if no_options:
        letters = {}
    elif protocol == "answer_with_span":
        letters = {qid: outcome.parsed.sections.get("answer") for qid, outcome in answered.items()}
    else:
        truth = protocol == "score_with_true_span"
        used = {qid: tuple(rows[qid]["relevant_windows"][0]) if truth else spans[qid] for qid in answered}
        letters = score_options([rows[qid] for qid in answered], used, videos, frames, session)
    for qid, outcome in answered.items():
        if spans[qid] is None or (letters.get(qid) is None and not no_options):
            failures.append(_failure(qid, outcome))
    submission = [
        {
            "qid": row["qid"],
            "pred_relevant_windows": [list(spans.get(row["qid"]) or NOT_PARSED)],
            **({} if no_options else {"ans": letters.get(row["qid"])}),
        }
        for row in tested
    ]
    return submission, failures


def _failure(qid: str, outcome: Outcome) -> dict[str, str]:
    return {"qid": qid, "reason": f"{outcome.status}-{outcome.reason or 'no-letter'}"}


def _slots(row: Mapping, task: Task, frames: int) -> dict[str, str]:
    slots = {"duration": f"{row['duration']:g}", "frame_number": str(frames)}
    if "question" in task.slots:
        slots["question"] = row["query"]
    if "options" in task.slots:
        slots["options"] = option_lines(row["options"])
    return slots


def _span(outcome: Outcome) -> tuple[float, float] | None:
    text = outcome.parsed.sections.get("span") if outcome.status == "ok" else None
    return span_of(text) if text else None


def continuation(span: tuple[float, float], option: str) -> str:
    """Text scored as the answer, in whole seconds, the form that the models were trained on."""
    return f"From {round(span[0])} to {round(span[1])}, {' '.join(option.split())}"


def score_options(
    questions: list[dict],
    spans: Mapping[str, tuple[float, float] | None],
    videos: Mapping[str, dict],
    frames: int,
    session: Session,
) -> dict[str, str | None]:
    """The letter of the option with the largest mean log-probability, by question; None without scores."""
    items, slots, scored = [], [], []
    for row in questions:
        for letter, option in zip(LETTERS, row["options"]):
            items.append({"item": row["qid"], "video": row["vid"]})
            scored.append((row["qid"], letter))
            text = continuation(spans[row["qid"]] or NOT_PARSED, option)
            slots.append({"question": row["query"], "continuation": text, "frame_number": str(frames)})
    calls: Iterable[Call] = whole_video_calls(SCORING, items, slots, videos, session, frames)
    likelihoods: dict[str, list[tuple[float, str]]] = {}
    for (qid, letter), outcome in zip(scored, session.ask(SCORING, calls, len(items))):
        if outcome.status == "ok":
            likelihoods.setdefault(qid, []).append((float(outcome.parsed.sections["mean_log_probability"]), letter))
    best = {qid: max(scores, key=lambda score: score[0])[1] for qid, scores in likelihoods.items() if len(scores) == 4}
    return {row["qid"]: best.get(row["qid"]) for row in questions}


def engines_for(
    protocol: str, generation: Generation, questions: Iterable[Mapping] = (), adapter: str | None = None
) -> dict[str, Engine]:
    """Engines that replace the configured one for protocols that score and for fine-tuned adapters in a file; otherwise
    none. Raises InputError for an engine that cannot score."""
    scores, role = SCORING in tasks_for(protocol, questions), generation.video_lmm
    if not scores and adapter is None:
        return {}
    from verified.lmm.engines.transformers import Transformers
    from verified_rextime.scoring import Scoring

    if not scores:
        return {"video_lmm": Transformers(role, generation.threads, adapter)}
    if role.engine != Scoring.name or role.structured:
        raise InputError(
            f"the protocol {protocol} scores given answers",
            remedy="set engine: transformers and structured: false for generation.video_lmm, or ask by the protocol "
            "answer_with_span",
        )
    return {"video_lmm": Scoring(role, generation.threads, adapter)}
