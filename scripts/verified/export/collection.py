"""The rows of an export, one for each caption, in every form."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from verified.annotations.export import EVALUATIVE_ROLE, WRITTEN_BY_MODELS
from verified.io.jsonl import read_jsonl

COLUMNS = {
    "caption_id": int,
    "desc_id": int,
    "rank": int,
    "video": str,
    "start": float,
    "end": float,
    "duration": float,
    "cog_desc": str,
    "fig_desc": str,
    "fig_desc_score": float,
    "fig_desc_type": str,
    "lineage": str,
    "decision": str,
    "reviewers": str,
    "reviewed": str,
}
"""Columns of a row and the type of their values; those after `cog_desc` may be None.

`caption_id` is unique; it is the moment's `desc_id` for its first caption, and a number above all of these for
any other. `rank` counts the captions of a moment from 1. A row of a query with several spans also has its `windows`.
"""


CAPTIONS = "Fine-grained captions of video moments."
"""First sentence of a card, unless `about` has another under ``holds``."""


@dataclass(frozen=True)
class Collection:
    """Rows by split (dicts of COLUMNS), and facts of the whole.

    `about`: title, name, licence, config, version, creators, url, models (role → model), prompts (name and sha256, None
    for given captions), warning (about the confidences, or nothing); `holds` and `role` if rows are not captions (see
    `evaluative_role`).
    """

    about: Mapping
    splits: dict[str, list[dict]]

    def counts(self) -> dict[str, dict[str, int]]:
        """Captions, moments and videos of each split."""
        return {
            split: {
                "captions": len(rows),
                "moments": len({row["desc_id"] for row in rows}),
                "videos": len({row["video"] for row in rows}),
            }
            for split, rows in self.splits.items()
        }


def evaluative_role(about: Mapping) -> str:
    """Claim that the rows support and its assumptions: ``role`` of `about`, or that of captions."""
    role = about.get("role", EVALUATIVE_ROLE)
    return f"{role} {WRITTEN_BY_MODELS}" if about["models"] else role


def caption_of(row: Mapping) -> str:
    """The caption for forms with one caption: the fine one, or the coarse one of a collection without fine ones."""
    return row["fig_desc"] or row["cog_desc"]


def without(annotations: Iterable[dict], findings: Iterable[str]) -> list[dict]:
    """Annotation rows, each with its ``split``, that no finding is about."""
    keys = {(row["split"], row["id"]) for path in findings for row in read_jsonl(path, ("split", "id"))}
    return [row for row in annotations if (row["split"], str(row["desc_id"])) not in keys]


def collect(
    annotations: Iterable[dict], splits: Iterable[str], about: Mapping, reviewer_names: bool = False
) -> Collection:
    """The collection of annotation rows in the FIG form, each with its ``split`` (see `io.fig.read_splits`).

    Without `reviewer_names`, reviewers are numbered.
    """
    annotations = list(annotations)
    names = sorted({name for row in annotations for name in row.get("review", {}).get("reviewers", ())})
    reviewers = {name: name if reviewer_names else f"reviewer {n}" for n, name in enumerate(names, start=1)}
    rows_of_split: dict[str, list[dict]] = {split: [] for split in splits}
    free = 1 + max((row["desc_id"] for row in annotations), default=0)
    for row in annotations:
        captions = [row, *row.get("further", ())]
        for rank, caption in enumerate(captions, start=1):
            number = row["desc_id"] if rank == 1 else free
            free += rank > 1
            rows_of_split[row["split"]].append(_row(number, rank, row, caption, reviewers))
    return Collection(about, rows_of_split)


def _row(number: int, rank: int, moment: Mapping, caption: Mapping, reviewers: Mapping[str, str]) -> dict:
    start, end = moment["time"]
    review = moment.get("review", {}) if rank == 1 else {}
    score = caption.get("fig_desc_score")
    return {
        "caption_id": number,
        "desc_id": moment["desc_id"],
        "rank": rank,
        "video": moment["video"],
        "start": float(start),
        "end": float(end),
        "duration": float(moment["duration"]),
        "cog_desc": moment["cog_desc"],
        "fig_desc": caption.get("fig_desc"),
        "fig_desc_score": None if score is None else float(score),
        "fig_desc_type": caption.get("fig_desc_type"),
        "lineage": caption.get("lineage"),
        "decision": review.get("decision"),
        "reviewers": ", ".join(reviewers[name] for name in review.get("reviewers", ())) or None,
        "reviewed": review.get("when"),
        **({"windows": moment["windows"]} if "windows" in moment else {}),
    }
