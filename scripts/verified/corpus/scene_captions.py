"""First captions of scenes of videos without moments."""

from collections.abc import Iterable, Iterator, Mapping

from verified.captions.clips import Clips, clip_digest, frame_count, order_by_video
from verified.lmm.client import Call
from verified.lmm.session import Session
from verified.lmm.tasks.coarse_caption import COARSE_CAPTION


def caption_scenes(videos: Iterable[dict], dynamics: Mapping, session: Session) -> list[dict]:
    """One row a scene: video, start, end, caption (None with a `reason` if there is none) and lineage.

    `videos` are rows of `scenes.detect_scenes`, `dynamics` the data set's settings for frames: fps or frames, and
    max_frames.
    """
    known = {row["video"]: row for row in videos if row["scenes"]}
    moments = [
        {"video": video, "start": start, "end": end} for video, row in known.items() for start, end in row["scenes"]
    ]
    moments = [moments[number] for number in order_by_video(moments)]
    calls: list[Call] = []
    clips = Clips(moments, known, dynamics, session.settings.frame_side, lambda n: not session.known(calls[n]))
    calls += _calls(moments, known, dynamics, session, clips)
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


def _calls(moments: list[dict], known: Mapping, dynamics: Mapping, session: Session, clips: Clips) -> Iterator[Call]:
    side, form = session.settings.frame_side, session.settings.video_lmm.video_input
    for position, moment in enumerate(moments):
        duration = moment["end"] - moment["start"]
        slots = {
            "duration": f"{duration:.2f}".rstrip("0").rstrip("."),
            "frame_number": str(frame_count(duration, dynamics)[0]),
        }
        digest = clip_digest(known[moment["video"]], moment["start"], moment["end"], dynamics, side, form)

        def load(position: int = position) -> dict:
            return clips.load(position)

        yield session.call(COARSE_CAPTION, slots, media=(digest,), load=load)
