"""Statics enhanced captioning (section 3.1, Equations 1 and 2): keyframe descriptions, then caption candidates."""

import hashlib
import io
from collections import Counter
from collections.abc import Iterator

from PIL import Image

from verified.captions.rows import candidate_row
from verified.keyframes.archive import KeyframeTar
from verified.lmm.client import Call, MediaError
from verified.lmm.engines.media import fit_picture
from verified.lmm.prompts import quote
from verified.lmm.request import Outcome
from verified.lmm.session import Session
from verified.lmm.tasks.statics import KEYFRAME_DESCRIPTION, STATICS_CANDIDATES

JPEG = b"\xff\xd8"
"""First bytes of a keyframe."""


def caption_statics(moments: list[dict], keyframes: KeyframeTar, session: Session) -> list[dict]:
    """Rows of captions/statics, one per moment, in order.

    Every keyframe of a moment is described with the coarse caption as guidance (Equation 1); all descriptions, in
    temporal order, and the caption give N_s candidates (Equation 2). A moment without any described keyframe gets no
    candidates but a reason.
    """
    frames_of, described, answered = ask_statics(moments, keyframes, session)
    return [
        _row(moment, frames, outcomes, answered.get(position), session.settings.candidates)
        for position, (moment, frames, outcomes) in enumerate(zip(moments, frames_of, described))
    ]


def ask_statics(
    moments: list[dict], keyframes: KeyframeTar, session: Session
) -> tuple[list[list[dict]], list[list[Outcome]], dict[int, Outcome]]:
    """All its calls: keyframes of each moment, outcomes of their descriptions, and those of candidates by position."""
    frame_lists = [keyframes.keyframes(moment["desc_id"]) for moment in moments]
    calls = _description_calls(moments, frame_lists, keyframes, session)
    outcomes = iter(session.ask(KEYFRAME_DESCRIPTION, calls, sum(map(len, frame_lists))))
    grouped = [[next(outcomes) for _ in frames] for frames in frame_lists]
    described = [
        position
        for position, outcomes in enumerate(grouped)
        if any(outcome.status == "ok" for outcome in outcomes)
        and not any(session.fails_for(KEYFRAME_DESCRIPTION, outcome) for outcome in outcomes)
    ]
    calls = (_candidates_call(moments[position], grouped[position], session) for position in described)
    return frame_lists, grouped, dict(zip(described, session.ask(STATICS_CANDIDATES, calls, len(described))))


def _description_calls(
    moments: list[dict], frame_lists: list[list[dict]], keyframes: KeyframeTar, session: Session
) -> Iterator[Call]:
    for moment, frames in zip(moments, frame_lists):
        slots = {"caption": moment["caption"], "said": moment.get("said", "")}
        for keyframe in frames:
            image, side = keyframes.image(keyframe["file"]), session.settings.picture_side
            large = max(_size(image)) > side
            digest = f"{hashlib.sha256(image).hexdigest()}{f' side {side}' if large else ''}"

            def load(image: bytes = image, name: str = keyframe["file"], large: bool = large, side: int = side) -> dict:
                _check_image(image, name)
                return {"images": (fit_picture(image, side) if large else image,)}

            yield session.call(KEYFRAME_DESCRIPTION, slots, media=(digest,), load=load)


def _size(image: bytes) -> tuple[int, int]:
    """Width and height of a keyframe's JPEG, from its header; (0, 0) for other bytes, whose error appears when they are
    sent.
    """
    if not image.startswith(JPEG):  # a plan asks for a million that do not exist yet, each of which Pillow would probe
        return 0, 0
    try:
        with Image.open(io.BytesIO(image), formats=("JPEG",)) as picture:
            return picture.size
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return 0, 0


def _check_image(image: bytes, name: str) -> None:
    try:
        with Image.open(io.BytesIO(image)) as picture:
            picture.load()
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise MediaError(f"{name} cannot be decoded: {error}") from None


def _candidates_call(moment: dict, outcomes: list[Outcome], session: Session) -> Call:
    described = [outcome.parsed.sections for outcome in outcomes if outcome.status == "ok"]
    lines = []
    for number, sections in enumerate(described, start=1):
        lines.append(f"Keyframe {number}:")
        for label, name in (
            ("Background", "background"),
            ("Objects Attributes", "foreground"),
            ("Description", "description"),
        ):
            if sections[name]:
                lines.append(f"  {label}: {quote(sections[name])}")
    slots = {
        "caption": moment["caption"],
        "keyframe_number": str(len(described)),
        "keyframes": "\n".join(lines),
        "count": str(session.settings.candidates),
        "said": moment.get("said", ""),
    }
    return session.call(STATICS_CANDIDATES, slots, session.settings.candidates)


def _row(moment: dict, keyframes: list[dict], outcomes: list[Outcome], answer: Outcome | None, count: int) -> dict:
    if answer is None:
        failed = Counter(f"keyframe-{outcome.status}: {outcome.reason}" for outcome in outcomes)
        reason = failed.most_common(1)[0][0] if failed else "no-keyframes"
    else:
        reason = None
    row = candidate_row(moment, "statics", answer, count, reason)
    row["keyframes"] = [
        {
            "time": keyframe["time"],
            "foreground": outcome.parsed.sections.get("foreground", ""),
            "background": outcome.parsed.sections.get("background", ""),
            "description": outcome.parsed.sections.get("description", ""),
            "lineage": outcome.key,
        }
        for keyframe, outcome in zip(keyframes, outcomes)
    ]
    return row
