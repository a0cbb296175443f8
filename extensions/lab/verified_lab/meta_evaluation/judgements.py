"""Read human judgements of captions: decisions of our reviews, or plain rows."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from verified.errors import InputError
from verified.io.jsonl import Row, finite, is_array, is_span, iterate_jsonl, read_jsonl
from verified_lab.review.decisions import ADDITIONAL, read_decisions

EVALUATOR, COSINE, AGREEMENT = "evaluator", "cosine", "agreement"
"""Metrics."""
PLAIN = ("video", "caption", "grade")
OF_CAPTION = {"right": None, "group": "", "references": ()}
"""What plain rows say of a caption, whoever grades it, and what stands where no row says it."""


@dataclass(frozen=True)
class Judged:
    """One caption of one clip, and its human judgements."""

    video: str
    caption: str
    grades: tuple[tuple[str, float], ...]
    """(who, grade) of each person."""
    right: bool | None
    """Whether the caption is right overall; None if the judgements leave this open."""
    span: tuple[float, float] | None = None
    """Start and end in seconds; None: the whole video."""
    group: str = ""
    """Group of captions, such as statics and dynamics."""
    references: tuple[str, ...] = ()
    """Other human captions of the clip."""
    desc_id: int | None = None

    @property
    def clip(self) -> tuple[str, tuple[float, float] | None]:
        """The clip that the caption describes."""
        return self.video, self.span


def read_judgements(path: str | Path) -> list[Judged]:
    """Read the judged captions of a file: decisions of a review, or plain rows. Raises InputError, with the row, for
    another form."""
    first = next(iterate_jsonl(path), {})
    return review([path]) if "decision" in first else plain(Path(path))


def review(paths: Iterable[str | Path]) -> list[Judged]:
    """Decisions of our review pages: the latest of each reviewer on a moment. Accepted and chosen captions are right;
    rejected, edited and replaced ones are wrong; the majority of the reviewers decides."""
    latest: dict[tuple[str, object, str], Row] = {}
    for row in sorted(read_decisions(paths), key=lambda row: row["when"]):
        name = (row["dataset"], row["moment"], row["reviewer"])
        if row["decision"] == "withdraw":
            latest.pop(name, None)
        elif row["decision"] not in ADDITIONAL:  # these do not judge the caption
            latest[name] = row
    grades: dict[tuple[str, float, float, int, str, str], list[tuple[str, float]]] = {}
    for row in latest.values():
        verdicts = [(row["type"], row["caption"], float(row["decision"] == "accept"))]
        if row["decision"] == "choose":
            verdicts.append((row["instead"]["type"], row["instead"]["caption"], 1.0))
        for kind, caption, grade in verdicts:
            key = (row["video"], float(row["start"]), float(row["end"]), row["desc_id"], kind, caption)
            grades.setdefault(key, []).append((row["reviewer"], grade))
    return [
        Judged(video, caption, tuple(answers), _majority(answers), (start, end), kind, desc_id=desc_id)
        for (video, start, end, desc_id, kind, caption), answers in grades.items()
    ]


def _majority(answers: list[tuple[str, float]]) -> bool | None:
    mean = sum(grade for _, grade in answers) / len(answers)
    return None if mean == 0.5 else mean > 0.5


def plain(path: Path) -> list[Judged]:
    """Rows with video, caption and grade, and optionally start and end, person, right, group, references and desc_id.

    Rows of one caption of one clip are grades of several people; what one of them says of the caption holds for all.
    """
    judgements: dict[object, Judged] = {}
    for number, row in enumerate(read_jsonl(path, PLAIN), start=1):
        if problem := _plain_problem(row):
            raise InputError(problem, file=path, row=number, remedy="correct the row")
        span = (float(row["start"]), float(row["end"])) if "start" in row else None
        grades = ((str(row.get("person", "annotator")), float(row["grade"])),)
        judgement = Judged(
            row["video"],
            row["caption"],
            grades,
            row.get("right"),
            span,
            row.get("group", ""),
            tuple(row.get("references", ())),
            row.get("desc_id"),
        )
        name = (judgement.clip, judgement.caption, judgement.desc_id)
        if earlier := judgements.get(name):
            of_caption = {}
            for key, unsaid in OF_CAPTION.items():
                said = {getattr(earlier, key), getattr(judgement, key)} - {unsaid}
                if len(said) > 1:
                    problem = f"{key!r} differs from that of an earlier row of this caption"
                    raise InputError(problem, file=path, row=number, remedy="give all rows of a caption the same")
                of_caption[key] = said.pop() if said else unsaid
            judgement = replace(judgement, grades=earlier.grades + grades, **of_caption)
        judgements[name] = judgement
    return [*judgements.values()]


def _plain_problem(row: Row) -> str | None:
    texts = [row["video"], row["caption"], row.get("group", "-"), *_listed(row.get("references", []))]
    if not all(isinstance(text, str) for text in texts) or not (row["video"] and row["caption"]):
        return "'video', 'caption', 'group' and 'references' are texts"
    if not finite(row["grade"]):
        return "'grade' is not a number"
    if "start" in row and not (is_span([row["start"], row.get("end")]) and 0 <= row["start"] < row["end"]):
        return "'start' and 'end' are not seconds of a clip"
    if not isinstance(row.get("right"), bool | None):
        return "'right' is neither true nor false"
    if row.get("desc_id") is not None and type(row["desc_id"]) is not int:
        return "'desc_id' is no whole number"
    return None


def _listed(value: object) -> Iterator[object]:
    yield from value if is_array(value) else [None]


def as_moments(judged: Sequence[Judged], videos: Mapping[str, dict]) -> tuple[list[dict], list[int | None]]:
    """A moment for each clip within its video, and the place of each caption's moment; None for a caption without
    video.

    A moment's caption is the first reference of its clip.
    """
    moments: list[dict] = []
    place: dict[object, int] = {}
    of_caption: list[int | None] = []
    for judgement in judged:
        if judgement.video not in videos:
            of_caption.append(None)
            continue
        if judgement.clip not in place:
            length = videos[judgement.video]["duration"]
            start, end = judgement.span or (0.0, length)
            end = min(end, length)
            if end <= start:
                of_caption.append(None)
                continue
            place[judgement.clip] = len(moments)
            coarse = judgement.references[0] if judgement.references else ""
            moments.append(
                {"desc_id": len(moments), "video": judgement.video, "start": start, "end": end, "caption": coarse}
            )
        of_caption.append(place[judgement.clip])
    return moments, of_caption
