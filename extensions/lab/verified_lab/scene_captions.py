"""First captions of scenes of videos without moments."""

import re
from collections.abc import Callable, Iterable, Mapping
from random import Random

from verified.captions.clips import Clips, frame_count, order_by_video
from verified.io.characters import plain
from verified.lmm.client import Call
from verified.lmm.parsing import clean, json_value, strip_fences, text_of
from verified.lmm.refusal import refusal
from verified.lmm.request import Parsed, Reply, Request
from verified.lmm.session import Session
from verified.lmm.tasks import TEXT, Task, object_schema


def read_caption(slots: Mapping[str, str], text: str, count: int, cut: bool) -> Parsed:
    """The caption of an answer: its JSON value, or its first line; one that is refused as a caption is missing."""
    text = strip_fences(text)
    value = json_value(text)
    if isinstance(value, dict):
        text_read = text_of(value)
    else:
        lines = [line for line in text.splitlines() if line.strip()]
        text_read = re.sub(r"^\s*(?:caption|sentence)\s*[:：]\s*", "", lines[0], flags=re.I) if lines else ""
        text_read = "" if cut and len(lines) < 2 else text_read
    caption = plain(clean(text_read))
    reason = refusal(caption, "")
    if reason:
        return Parsed(refused=({"caption": caption[:1000], "reason": reason},) if caption else (), missing=1)
    return Parsed(items=(caption,), positions=(0,))


def _answer_of_demo(request: Request, rng: Random, _corrupted_share: float) -> Reply:
    from verified_lab import scene_reader

    return scene_reader.coarse_caption(request, rng)


COARSE_CAPTION = Task(
    "corpus/coarse_caption",
    "video_lmm",
    ("duration", "frame_number"),
    read_caption,
    lambda _count: object_schema({"caption": TEXT}),
    15,
    lambda _count, _identity: Parsed(items=("a person does something",), positions=(0,)),
    settings=("frame_side",),
    always_json=True,
    demo=_answer_of_demo,
)


def caption_scenes(videos: Iterable[dict], dynamics: Mapping, session: Session) -> list[dict]:
    """One row a scene: video, start, end, caption (None with a `reason` if there is none) and lineage.

    `videos` are rows of `corpus.scenes.detect_scenes`, `dynamics` the data set's settings for frames: fps or frames,
    and max_frames.
    """
    row_of = {row["video"]: row for row in videos if row["scenes"]}
    moments = [
        {"video": video, "start": start, "end": end} for video, row in row_of.items() for start, end in row["scenes"]
    ]
    moments = [moments[number] for number in order_by_video(moments)]
    clips = Clips(moments, row_of, dynamics, session.settings.frame_side)

    def make(position: int, digest: str, load: Callable[[], dict]) -> Call:
        duration = moments[position]["end"] - moments[position]["start"]
        slots = {
            "duration": f"{duration:.2f}".rstrip("0").rstrip("."),
            "frame_number": str(frame_count(duration, dynamics)[0]),
        }
        return session.call(COARSE_CAPTION, slots, media=(digest,), load=load)

    calls = clips.calls(session.settings.video_lmm.video_input, session.has_answer, make)
    outcomes = session.ask(COARSE_CAPTION, calls, len(calls))
    return [
        {
            **moment,
            "caption": outcome.parsed.items[0] if outcome.status == "ok" else None,
            "reason": None if outcome.status == "ok" else f"{outcome.status}: {outcome.reason}",
            "lineage": outcome.key,
        }
        for moment, outcome in zip(moments, outcomes)
    ]
