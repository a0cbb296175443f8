"""Check what reviewers wrote, and apply their decisions to annotations: a decision overrides any score."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from verified.annotations.lint import caption_findings
from verified.annotations.selection import REJECTED, by_score, select
from verified.config.annotations import Annotations, Lint
from verified.errors import InputError
from verified.io.characters import LONGEST_CAPTION
from verified.io.fig import COARSE
from verified.io.jsonl import finite
from verified.lmm.refusal import same
from verified_lab.review.adjudicate import APPLIED

ENOUGH_JUDGED = 10
"""Fewest judged captions at or above a score for its precision to count."""


def check_edits(decisions: Iterable[Mapping], moments: Iterable[Mapping], severities: Lint) -> None:
    """Raise InputError, naming each by file and row, for valid edits with a lint error.

    `decisions` as of `adjudicate`, each with its state. Edits that a later decision has replaced are ignored.
    """
    coarse = {moment["desc_id"]: moment["caption"] for moment in moments}
    refused = [
        (row, check, detail)
        for row in decisions
        if row["state"] == APPLIED and row["decision"] in ("edit", "draw")
        for check, detail in _findings(row["text"].strip(), "" if row["decision"] == "draw" else coarse[row["desc_id"]])
        if getattr(severities, check) == "error"
    ]
    if not refused:
        return
    row, check, detail = refused[0]
    others = dict.fromkeys(f"{other['file']}, row {other['row']}" for other, _, _ in refused)
    others.pop(f"{row['file']}, row {row['row']}")
    also = f"; the lint also refuses the text in {'; '.join(others)}" if others else ""
    raise InputError(
        f"the text that {row['reviewer']!r} wrote for moment {row['desc_id']} must not be a caption: {check},"
        f" {detail}{also}",
        file=row["file"],
        row=row["row"],
        remedy="edit the moment again on its page, without that, and save: the later decision counts; or set"
        f" annotations.lint.{check}",
    )


def _findings(text: str, coarse: str) -> list[tuple[str, str]]:
    if len(text) > LONGEST_CAPTION:  # some patterns would take long
        return [("malformed", f"more than {LONGEST_CAPTION} characters")]
    return list(caption_findings(text, coarse))


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
    settings: Annotations,
) -> tuple[list[dict], dict[int, str], Counter]:
    """The result of `annotations.selection.select` with the `outcomes` of `adjudicate`. Counts are also accepted,
    chosen, edited, rejected and retimed: moments whose times people corrected.
    """
    selected, omitted, counts = select(rows, groups, least, settings, partial(_decide, outcomes))
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
