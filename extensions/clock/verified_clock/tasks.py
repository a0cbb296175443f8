"""Tasks of the clock test, and the calls that a model is asked."""

from collections.abc import Iterator
from functools import partial
from random import Random

from verified.config.generation import Generation
from verified.lmm.client import Call
from verified.lmm.engines.media import jpeg_of
from verified.lmm.parsing import best_object, seconds
from verified.lmm.request import Parsed, Reply, Request
from verified.lmm.session import Session
from verified.lmm.tasks import Task, object_schema
from verified_clock.clip import DURATION, EVENTS, SAMPLINGS, frames_at
from verified_clock.verdict import Verdict, judge

VERSION = 2
"""Version of the clip, in the digest of its frames."""


def read_seconds(_slots: dict, text: str, _count: int, _cut: bool) -> Parsed:
    """The second of each colour, in the order of the list, separated by blanks."""
    listed = best_object(text, ("seconds",)).get("seconds")
    times = [seconds(value) for value in listed] if isinstance(listed, list) else []
    if len(times) != len(EVENTS) or None in times:
        return Parsed(missing=1)
    return Parsed(sections={"seconds": " ".join(f"{second:g}" for second in times)})


def _answer_of_demo(request: Request, _rng: Random, _corrupted_share: float) -> Reply:
    from verified_clock.scene_reader import answer

    return answer(request)


def _task(name: str, *slots: str) -> Task:
    numbers = {"type": "array", "items": {"type": "number"}, "minItems": len(EVENTS), "maxItems": len(EVENTS)}
    return Task(
        f"clock/{name}",
        "video_lmm",
        ("colours", "duration", "frame_number", *slots),
        read_seconds,
        lambda _count: object_schema({"seconds": numbers}),
        30,
        lambda _count, _identity: Parsed(sections={"seconds": "0 0 0"}),
        settings=("frame_side",),
        always_json=True,
        demo=_answer_of_demo,
    )


VIDEO, STILLS = _task("video"), _task("stills", "times")


def forms(generation: Generation) -> dict[str, Task]:
    """Forms in which clips are shown: that of the configuration, and stills with stated times."""
    own = generation.video_lmm.video_input
    return {**({} if own == "stills" else {own: VIDEO}), "stills": STILLS}


def ask(session: Session, tolerance: float) -> dict[str, tuple[Verdict, dict[str, list[float] | None]]]:
    """Ask about each form and sampling of the clip, a call each; form → verdict and answers by sampling."""
    trials = {}
    for form, task in forms(session.settings).items():
        outcomes = session.ask(task, _calls(session, task, form), len(SAMPLINGS))
        answers = {
            name: [float(number) for number in outcome.parsed.sections["seconds"].split()]
            if outcome.status == "ok"
            else None
            for name, outcome in zip(SAMPLINGS, outcomes)
        }
        trials[form] = judge(answers, tolerance), answers
    return trials


def _calls(session: Session, task: Task, form: str) -> Iterator[Call]:
    side = session.settings.frame_side
    for name, times in SAMPLINGS.items():
        slots = {
            "colours": "\n".join(f"- {colour}" for colour in EVENTS),
            "duration": f"{DURATION:g}",
            "frame_number": str(len(times)),
        }
        if task is STILLS:
            slots["times"] = "\n".join(f"Picture {n}: {time:g}" for n, time in enumerate(times, start=1))
        load = partial(_media, times, side, task is STILLS)
        yield session.call(task, slots, media=(f"clock {VERSION}, {name}, side {side}, as {form}",), load=load)


def _media(times: tuple[float, ...], side: int, as_stills: bool) -> dict:
    frames = frames_at(times, side)
    if as_stills:
        return {"images": tuple(jpeg_of(frame) for frame in frames)}
    return {"frames": frames, "frame_times": times}
