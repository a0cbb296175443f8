"""Dynamics enhanced captioning (section 3.2, Equations 3 to 5): questions, answers from the clip, candidates."""

from collections.abc import Callable

from verified.captions.clips import Clips, frame_count, order_by_video
from verified.captions.rows import candidate_row
from verified.lmm.client import Call
from verified.lmm.prompts import quote
from verified.lmm.request import Outcome
from verified.lmm.session import Session
from verified.lmm.tasks.dynamics import ANSWERS, DYNAMICS_CANDIDATES, QUESTIONS


def caption_dynamics(moments: list[dict], videos: dict[str, dict], dynamics: dict, session: Session) -> list[dict]:
    """Rows of captions/dynamics, one per moment, in order.

    The LLM asks N_qa questions about the coarse caption (Equation 3; equal captions are sent once), the video LMM
    answers them from the frames and describes the motion (Equation 4), the LLM turns this into N_d candidates (Equation
    5). A moment whose questions or answers failed gets no candidates but a reason. `dynamics` are the data set's
    settings: fps or frames, max_frames.
    """
    questions, answers, candidates = ask_dynamics(moments, videos, dynamics, session)
    return [
        _row(
            moment,
            questions[index],
            answers[index],
            candidates.get(index),
            dynamics,
            session.settings.candidates,
        )
        for index, moment in enumerate(moments)
    ]


def ask_dynamics(
    moments: list[dict], videos: dict[str, dict], dynamics: dict, session: Session
) -> tuple[list[Outcome], list[Outcome | None], dict[int, Outcome]]:
    """All calls of `caption_dynamics`: outcomes of questions, answers and candidates by the position of the moment."""
    questions = session.ask(QUESTIONS, (questions_call(moment, session) for moment in moments), len(moments))
    answers = _answers(moments, questions, videos, dynamics, session)
    ready = {index: outcome for index, outcome in enumerate(answers) if outcome is not None and outcome.status == "ok"}
    calls = (_candidates_call(moments[index], questions[index], answer, session) for index, answer in ready.items())
    candidates = dict(zip(ready, session.ask(DYNAMICS_CANDIDATES, calls, len(ready))))
    return questions, answers, candidates


def questions_call(moment: dict, session: Session) -> Call:
    """The call that asks about the coarse caption of `moment` (Equation 3)."""
    count = session.settings.questions
    return session.call(QUESTIONS, {"caption": moment["caption"], "count": str(count)}, count)


def _answers(
    moments: list[dict], questioned: list[Outcome], videos: dict[str, dict], dynamics: dict, session: Session
) -> list[Outcome | None]:
    """Answers by the position of the moment; None if there are no questions."""
    order = [index for index in order_by_video(moments) if questioned[index].status == "ok"]
    settings = session.settings
    threads, ahead = settings.clip_threads, settings.video_lmm.batch_size
    clips = Clips([moments[index] for index in order], videos, dynamics, settings.frame_side, threads, ahead)

    def make(position: int, digest: str, load: Callable[[], dict]) -> Call:
        moment, questions = moments[order[position]], questioned[order[position]].parsed.items
        duration = moment["end"] - moment["start"]
        slots = {
            "caption": moment["caption"],
            "duration": _seconds(duration),
            "frame_number": str(frame_count(duration, dynamics)[0]),
            "questions": "\n".join(f"{number}. {question}" for number, question in enumerate(questions, start=1)),
            "said": moment.get("said", ""),
        }
        return session.call(ANSWERS, slots, len(questions), media=(digest,), load=load)

    calls = clips.calls(settings.video_lmm.video_input, session.has_answer, make)
    outcomes: list[Outcome | None] = [None] * len(moments)
    with clips:
        for index, outcome in zip(order, session.ask(ANSWERS, calls, len(calls))):
            outcomes[index] = outcome
    calls.clear()  # the producers know the clips and the calls: nothing of a shard could be freed
    return outcomes


def _candidates_call(moment: dict, questions: Outcome, answers: Outcome, session: Session) -> Call:
    lines = []
    answered = zip(answers.parsed.positions, answers.parsed.items)  # without questions that have no answer
    for number, (question, answer) in enumerate(answered, start=1):
        lines += [f"{number}. (Q) {quote(questions.parsed.items[question])}", f"   (A) {quote(answer)}"]
    slots = {
        "caption": moment["caption"],
        "start": _seconds(moment["start"]),
        "end": _seconds(moment["end"]),
        "questions_and_answers": "\n".join(lines),
        "description": answers.parsed.sections.get("description", ""),
        "count": str(session.settings.candidates),
        "said": moment.get("said", ""),
    }
    return session.call(DYNAMICS_CANDIDATES, slots, session.settings.candidates)


def _seconds(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _row(
    moment: dict, questions: Outcome, reply: Outcome | None, answer: Outcome | None, dynamics: dict, count: int
) -> dict:
    reason = None
    if reply is None:
        reason = f"questions-{questions.status}: {questions.reason}"
    elif answer is None:
        reason = f"answers-{reply.status}: {reply.reason}"
    row = candidate_row(moment, "dynamics", answer, count, reason)
    frames, thin = frame_count(moment["end"] - moment["start"], dynamics)
    steps = {"questions": questions, "answers": reply, "candidates": answer}
    answers = [""] * len(questions.parsed.items)
    if reply is not None:
        for question, text in zip(reply.parsed.positions, reply.parsed.items):
            answers[question] = text
    return {
        **row,
        "questions": list(questions.parsed.items),
        "answers": answers,
        "description": reply.parsed.sections.get("description", "") if reply is not None else "",
        "frames": frames,
        "thinned": thin,
        "lineage": {name: outcome.key for name, outcome in steps.items() if outcome is not None},
    }
