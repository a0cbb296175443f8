"""Read human judgements of captions, in the forms of VideoCon-Human, VATEX-EVAL and CaReBench, of our reviews, and
plain."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from verified.errors import InputError
from verified.io.jsonl import Row, finite, is_array, is_object, is_span, iterate_jsonl, read_json, read_jsonl
from verified.io.text_tables import read_csv
from verified.people.review.decisions import ADDITIONAL, read_decisions
from verified.runtime.seeds import generator

EVALUATOR, COSINE, AGREEMENT, JUDGE = "evaluator", "cosine", "agreement", "LMM judge"
"""Metrics."""
VIDEOCON = ("video_url", "caption", "neg_caption")
VATEX = ("candidates_list", "human_scores", "video_ids", "gts_list")
"""Arrays of VATEX-EVAL, a JSON file each."""
VATEX_PEOPLE, VATEX_MIDDLE = 3, 3.0
"""Grades of each caption, from this number of people, from 1 to 5 with this middle."""
PLAIN = ("video", "caption", "grade")
FORMS = "VideoCon-Human (CSV), the folder of VATEX-EVAL, CaReBench (JSON), decisions of a review or plain rows (JSONL)"


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


def read_judgements(path: str | Path, seed: int = 2024) -> list[Judged]:
    """Read the judged captions of a file or folder, in any form. Raises InputError, with the row, for an unknown
    form."""
    path = Path(path)
    if path.is_dir():
        return vatex(path)
    if not path.is_file():
        raise InputError("no such file", file=path, remedy=f"give {FORMS}")
    if path.suffix == ".csv":
        return videocon(path)
    if path.suffix == ".json":
        return carebench(path, seed)
    first = next(iterate_jsonl(path), {})
    return review([path]) if "decision" in first else plain(path)


def video_name(given: object) -> str:
    """The id of a video, from a file's address, path or id of it."""
    name = PurePosixPath(str(given).replace("\\", "/").rpartition("://")[2].partition("?")[0])
    return name.stem if name.suffix[1:].isalnum() and not name.suffix[1:].isdigit() else name.name


def videocon(path: Path) -> list[Judged]:
    """VideoCon-Human: each row has a right caption and one with a human-written contrast; hard ones are a group."""
    found = []
    for number, row in read_csv(path, VIDEOCON, "nle and hard"):
        for name in VIDEOCON:
            if not row[name].strip():
                raise InputError(f"{name} is empty", file=path, row=number, remedy="fill it, or delete the row")
        hard = row.get("hard", "").strip().lower()
        group = {"true": "hard", "false": "easy"}.get(hard, "")
        for caption, right in ((row["caption"], True), (row["neg_caption"], False)):
            video = video_name(row["video_url"])
            found.append(Judged(video, caption.strip(), (("annotator", float(right)),), right, group=group))
    return found


def _array(path: Path) -> list[Any]:
    if not path.is_file() and path.with_suffix(".pkl").is_file():
        raise InputError(
            "is a pickle, which can run code when it is read",
            file=path.with_suffix(".pkl"),
            remedy="convert it to JSON first, as docs/captions.md says",
        )
    content = read_json(path)
    if not is_array(content):
        raise InputError("holds no list", file=path, remedy=f"VATEX-EVAL has a list in each of {', '.join(VATEX)}")
    return content


def vatex(folder: Path) -> list[Judged]:
    """VATEX-EVAL: captions of systems for each video, with three people's grades from 1 to 5."""
    columns = {name: _array(folder / f"{name}.json") for name in VATEX}
    captions = columns["candidates_list"]
    try:
        scores = np.array(columns["human_scores"], dtype=np.float64)
    except (ValueError, TypeError):
        raise InputError("holds no table of numbers", file=folder / "human_scores.json") from None
    if scores.size != VATEX_PEOPLE * len(captions):
        raise InputError(
            f"{scores.size} grades for {len(captions)} captions: each has {VATEX_PEOPLE}",
            file=folder / "human_scores.json",
        )
    for name in ("video_ids", "gts_list"):
        if len(columns[name]) != len(captions):
            raise InputError(f"{len(columns[name])} rows for {len(captions)} captions", file=folder / f"{name}.json")
    grades = scores.reshape(VATEX_PEOPLE, -1)
    found = []
    for number, (caption, video, references) in enumerate(zip(captions, columns["video_ids"], columns["gts_list"])):
        given = tuple((f"person {who + 1}", float(grades[who, number])) for who in range(VATEX_PEOPLE))
        mean = float(grades[:, number].mean())
        right = None if mean == VATEX_MIDDLE else mean > VATEX_MIDDLE
        texts = references if is_array(references) else [references]
        found.append(Judged(video_name(video), str(caption), given, right, references=tuple(map(str, texts))))
    return found


def carebench(path: Path, seed: int) -> list[Judged]:
    """CaReBench: each video's own caption is right, and that of another video, drawn by `seed`, is wrong.

    People wrote descriptions here and gave no grades. A file is about static information if its name contains
    ``spatial``, about dynamic information if it contains ``temporal``.
    """
    rows = read_json(path)
    if not is_array(rows):
        raise InputError("not a list of videos with captions", file=path, remedy=f"give {FORMS}")
    texts: list[tuple[str, str]] = []
    for number, row in enumerate(rows, start=1):
        if not is_object(row) or not all(isinstance(row.get(key), str) and row[key].strip() for key in PLAIN[:2]):
            raise InputError("has no video and caption", file=path, row=number, remedy="each has video and caption")
        texts.append((video_name(row["video"]), row["caption"].strip()))
    if len({video for video, _ in texts}) < 2:
        raise InputError("all captions are of one video, so none can be paired with a wrong one", file=path)
    aspects = {"spatial": "statics", "temporal": "dynamics"}
    group = next((kind for word, kind in aspects.items() if word in path.stem.lower()), "")
    random, found = generator(seed, "carebench", path.stem), []
    for video, caption in texts:
        other = int(random.integers(len(texts)))
        while texts[other][0] == video:
            other = int(random.integers(len(texts)))
        for text, right in ((caption, True), (texts[other][1], False)):
            found.append(Judged(video, text, (("annotator", float(right)),), right, group=group))
    return found


def review(paths: Iterable[str | Path]) -> list[Judged]:
    """Decisions of our review pages: the latest of each reviewer on a moment. Accepted and chosen captions are right;
    rejected, edited and replaced ones are wrong; the majority of the reviewers decides."""
    latest: dict[tuple[str, object, str], Row] = {}
    for row in sorted(read_decisions(paths), key=lambda row: row["when"]):
        name = (row["dataset"], row.get("moment", row["desc_id"]), row["reviewer"])
        if row["decision"] == "withdraw":
            latest.pop(name, None)
        elif row["decision"] not in (*ADDITIONAL, "split", "merge"):  # these do not judge the caption
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
        Judged(video, caption, tuple(given), _majority(given), (start, end), kind, desc_id=desc_id)
        for (video, start, end, desc_id, kind, caption), given in grades.items()
    ]


def _majority(given: list[tuple[str, float]]) -> bool | None:
    mean = sum(grade for _, grade in given) / len(given)
    return None if mean == 0.5 else mean > 0.5


def plain(path: Path) -> list[Judged]:
    """Rows with video, caption and grade, and optionally start and end, person, right, group, references and desc_id.

    Rows of one caption of one clip are grades of several people.
    """
    found: dict[object, Judged] = {}
    for number, row in enumerate(read_jsonl(path, PLAIN), start=1):
        if problem := _plain_problem(row):
            raise InputError(problem, file=path, row=number, remedy="correct the row")
        span = (float(row["start"]), float(row["end"])) if "start" in row else None
        given = ((str(row.get("person", "annotator")), float(row["grade"])),)
        one = Judged(
            row["video"],
            row["caption"],
            given,
            row.get("right"),
            span,
            row.get("group", ""),
            tuple(row.get("references", ())),
            row.get("desc_id"),
        )
        name = (one.clip, one.caption, one.desc_id)
        if name in found:
            one = Judged(**{**vars(one), "grades": found[name].grades + given})
        found[name] = one
    return [*found.values()]


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
    if not isinstance(row.get("desc_id"), int | None):
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
    for one in judged:
        if one.video not in videos:
            of_caption.append(None)
            continue
        if one.clip not in place:
            length = videos[one.video]["duration"]
            start, end = one.span or (0.0, length)
            end = min(end, length)
            if end <= start:
                of_caption.append(None)
                continue
            place[one.clip] = len(moments)
            coarse = one.references[0] if one.references else ""
            moments.append({"desc_id": len(moments), "video": one.video, "start": start, "end": end, "caption": coarse})
        of_caption.append(place[one.clip])
    return moments, of_caption
