"""Apply reviewers' decisions to annotations: a decision overrides any score."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from verified.annotations.selection import REJECTED, by_score, select
from verified.errors import InputError
from verified.io.fig import COARSE
from verified.io.jsonl import finite
from verified.lmm.refusal import same

ENOUGH_JUDGED = 10
"""Fewest judged captions at or above a score for its precision to count."""


def precision_threshold(judged: Iterable[tuple[float, bool]], precision: float) -> float:
    """The lowest score at or above which at least a share `precision` of the judged captions is right.

    Raises InputError where no score with at least ENOUGH_JUDGED captions at or above it reaches that.
    """
    listed = sorted(judged, reverse=True)
    lowest, right = None, 0
    for count, (score, true) in enumerate(listed, start=1):
        right += true
        last = count == len(listed) or listed[count][0] < score  # captions of equal score are treated equally
        if last and count >= ENOUGH_JUDGED and right / count >= precision:
            lowest = score
    if lowest is None:
        raise InputError(
            f"no score keeps {precision:.0%} of the reviewed captions right ({len(listed)} are judged, "
            f"{sum(true for _, true in listed)} of them right; {ENOUGH_JUDGED} are the least above a score)",
            remedy="review more captions, lower review.min_precision, or set annotations.min_score by hand",
        )
    return lowest


def select_reviewed(
    rows: Sequence[dict],
    groups: Mapping[int, list[dict]],
    outcomes: Mapping[int, Mapping],
    least: float | None,
    best: int = 1,
    otherwise: str = "leave-out",
) -> tuple[list[dict], dict[int, str], Counter]:
    """The result of `annotations.selection.select` with the `outcomes` of `adjudicate`. Counts are also accepted,
    chosen, edited, rejected and retimed: moments whose times people corrected.
    """
    selected, omitted, counts = select(rows, groups, least, best, otherwise, partial(_decide, outcomes))
    counts.update("retimed" for row in rows if "time" in outcomes.get(row["desc_id"], {}))
    return selected, omitted, counts


def _decide(outcomes: Mapping[int, Mapping], row: dict, group: list[dict], least: float | None) -> tuple[dict, str]:
    """The row of a moment with people's decision under ``review``, and the action. The score decides where people
    decided nothing, or the times alone.
    """
    outcome = outcomes.get(row["desc_id"])
    if outcome is None:
        return by_score(row, group, least)
    review = {key: outcome[key] for key in ("decision", "reviewers", "when", "reason") if key in outcome}
    if outcome["decision"] == "reject":
        return {**row, "review": review}, REJECTED
    if outcome["decision"] == "retime":
        review["time_before"] = row["time"]
        return by_score({**row, "time": outcome["time"], "review": review}, group, least)
    judged = next(c for c in group if (c["type"], c["caption"]) == (outcome["type"], outcome["original"]))
    if outcome["caption"] != judged["caption"]:
        review["edited_from"] = judged["caption"]
    if "time" in outcome:
        review["time_before"] = row["time"]
    score = judged["score"] if finite(judged["score"]) else row["fig_desc_score"]
    kind = COARSE if same(outcome["caption"]) == same(row["cog_desc"]) else judged["type"]
    new = {
        **row,
        "time": outcome.get("time", row["time"]),
        "fig_desc": outcome["caption"],
        "fig_desc_score": score,
        "fig_desc_type": kind,
        "lineage": judged["lineage"],
        "review": review,
    }
    return new, {"accept": "accepted", "choose": "chosen", "edit": "edited"}[outcome["decision"]]


def drawn_rows(drawn: Iterable[Mapping]) -> list[dict]:
    """FIG rows of moments that reviewers drew (see `adjudicate`): their text is the coarse caption too.

    They are unscored, which the form cannot express: their ``fig_desc_score`` is 0.
    """
    return [
        {
            "video": moment["video"],
            "time": moment["time"],
            "desc_id": _id_of(moment),
            "duration": moment["duration"],
            "cog_desc": moment["text"],
            "fig_desc": moment["text"],
            "fig_desc_score": 0.0,
            "fig_desc_type": COARSE,
            "lineage": "",
            "review": {"decision": "draw", "reviewers": moment["reviewers"], "when": moment["when"]},
        }
        for moment in drawn
    ]


def _id_of(moment: Mapping) -> int:
    """The `desc_id` of a moment that people made: 52 bits from its video, time and text, far above counted ones and
    below 2^53.
    """
    identity = json.dumps([moment["video"], moment["time"], moment["text"]], ensure_ascii=True)
    return 2**52 + int.from_bytes(hashlib.sha256(identity.encode()).digest()[:6], "big")


def with_times(rows: Iterable[dict], outcomes: Mapping[int, Mapping]) -> list[dict]:
    """FIG rows with the times that people corrected."""
    return [
        {**row, "time": outcomes[row["desc_id"]]["time"]} if "time" in outcomes.get(row["desc_id"], {}) else row
        for row in rows
    ]
