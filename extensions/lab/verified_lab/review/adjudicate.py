"""Adjudicate the decisions of all reviewers: one outcome per moment, and the state of each decision.

Of each reviewer the latest decision on a moment counts (a flag counts in addition). A decision is stale when the moment
was moved or its candidate no longer exists; a moment whose number merely changed is followed.

The votes on a moment are merged as changes to a file are. First: is it accepted or rejected? More than half decide. Of
those who accept it, votes on the span and on the caption are counted separately. Corrected times and accepting the
moment as shown are votes on the span; writing or choosing a caption at the times shown is none. Corrected times win
unless more people accept the span as shown. On the caption, more than half decide; without a majority, a reviewer who
accepted the caption and corrected the span yields to one who wrote or chose another, as they edited different parts.
After an open vote the machine's choice remains, and the moment is reported as a conflict. Every decision is reported
with its state.

Corrected times are the median of their starts and of their ends, of those with a tIoU of SAME_SPAN or more with that;
if these are half or fewer, the vote is open. A drawn moment needs no majority, because only a reviewer who saw it can
draw it; of two reviewers' that overlap by a tIoU of SAME_SPAN or more, the earlier one counts.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from statistics import median
from typing import Any

from verified.benchmark.tiou import tiou
from verified.io.jsonl import finite
from verified_lab.review.decisions import ADDITIONAL, content_id

APPLIED, OUTVOTED, OPEN = "applied", "outvoted", "open conflict"
SUPERSEDED, WITHDRAWN, STALE, UNKNOWN, FLAGGED = "superseded", "withdrawn", "stale", "unknown moment", "flagged"
STATES = (APPLIED, OUTVOTED, OPEN, STALE, UNKNOWN, FLAGGED, SUPERSEDED, WITHDRAWN)
TOLERANCE = 1e-3
"""Seconds of tolerance between a moment and its display; the page rounds to a thousandth."""
SAME_SPAN = 0.5
RETIMED = "retime"
"""Decision of an outcome that corrects the span, while reviewers differ on the caption."""


def adjudicate(decisions: Iterable[dict], moments: Iterable[Mapping], groups: Mapping[int, list[dict]]) -> dict:
    """`outcomes` by desc_id, `drawn` moments, `decisions` each with a `state` (and `why`), `conflicts` and `flags`
    (desc_ids), `judged`.

    `decisions` are rows of `read_decisions` of one data set, `groups` the scored candidates of each moment (see
    `annotations.selection.candidates_by_moment`). An outcome contains decision, type and candidate (of the judged or
    chosen caption; None for reject and RETIMED), caption, reviewers, when (the latest) and reason, and `time` if it
    was corrected. `drawn` have video, split, duration, time, text, reviewers and when. `judged` are [score, right] of
    each caption that the outcome calls true or false, for `precision_threshold`.
    """
    by_id = {moment["desc_id"]: moment for moment in moments}
    of_video = defaultdict(list)
    for moment in by_id.values():
        of_video[moment["video"]].append(moment)
    rows = [_follow_moment(row, of_video.get(row["video"], ())) for row in decisions]
    latest: dict[tuple, dict] = {}
    raised: dict[tuple, list[dict]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: row["when"]):
        _state(row, *_decision_state(row, by_id, groups))
        name = (row["desc_id"], row["reviewer"])
        if row["decision"] in ADDITIONAL and row["state"] in (FLAGGED, APPLIED):
            raised[name].append(row)
        if row["state"] != APPLIED or row["decision"] in ADDITIONAL:
            continue
        if earlier := latest.pop(name, None):
            _state(earlier, WITHDRAWN if row["decision"] == "withdraw" else SUPERSEDED)
        if row["decision"] == "withdraw":
            for taken_back in (row, *raised.pop(name, ())):
                _state(taken_back, WITHDRAWN)
        else:
            latest[name] = row
    by_moment = defaultdict(list)
    for (desc_id, _), row in latest.items():
        by_moment[desc_id].append(row)
    outcomes, conflicts, judged = {}, [], []
    for desc_id in sorted(by_moment):
        outcome, differ = _outcome(by_moment[desc_id])
        conflicts += [desc_id] if differ else []
        if outcome:
            outcomes[desc_id] = outcome
            judged += _judged_scores(outcome, by_moment[desc_id], groups[desc_id])
    flags = sorted({row["desc_id"] for row in rows if row["state"] == FLAGGED})
    drawn = _drawn(
        [row for decisions_of in raised.values() for row in decisions_of if row["decision"] == "draw"], of_video
    )
    result = {"outcomes": outcomes, "drawn": drawn, "decisions": rows, "conflicts": conflicts, "flags": flags}
    return {**result, "judged": judged}


def _drawn(rows: Iterable[dict], of_video: Mapping[str, list[Mapping]]) -> list[dict]:
    """Moments drawn by reviewers, the earliest first; a duplicate row gets another state."""
    drawn: list[dict] = []
    for row in sorted(rows, key=lambda row: row["when"]):
        near = (
            item
            for item in drawn
            if item["video"] == row["video"]
            and tiou(*item["time"], *row["time"]) >= SAME_SPAN
            and (row["reviewer"] not in item["reviewers"] or item["text"] == row["text"].strip())
        )
        if first := next(near, None):
            if first["text"] == row["text"].strip():
                first["reviewers"] = sorted({*first["reviewers"], row["reviewer"]})
            else:
                _state(row, OUTVOTED, f"drawn already by {first['reviewers'][0]}")
            continue
        moment = of_video[row["video"]][0]
        drawn.append(
            {
                **{key: moment[key] for key in ("video", "split", "duration")},
                "time": row["time"],
                "text": row["text"].strip(),
                "reviewers": [row["reviewer"]],
                "when": row["when"],
            }
        )
    return drawn


def _state(row: dict, state: str, why: str = "") -> None:
    row["state"], row["why"] = state, why


def _follow_moment(row: Mapping, moments: Iterable[Mapping]) -> dict:
    """A copy of a decision under the moment's current number, with the displayed number as ``shown_as``.

    If a moments file gives no `desc_id`, rows are counted, and a row inserted at its top shifts all numbers. The
    displayed moment is found by its content id.
    """
    moments, decision = list(moments), dict(row)
    desc_id = _find(moments, row)
    if desc_id in (None, row["desc_id"]):
        return decision
    return {**decision, "desc_id": desc_id, "shown_as": row["desc_id"]}


def _find(moments: Iterable[Mapping], row: Mapping) -> int | None:
    """The number of the moment with a content id; of identical ones, the displayed one, or the first."""
    fitting = [
        moment["desc_id"]
        for moment in moments
        if content_id(moment["video"], moment["start"], moment["end"], moment["caption"]) == row["moment"]
    ]
    return row["desc_id"] if row.get("desc_id") in fitting else next(iter(fitting), None)


def _is_in_place(row: Mapping, moment: Mapping) -> bool:
    """Return whether a moment still has the video and the times of the decision."""
    return moment["video"] == row["video"] and all(abs(moment[key] - row[key]) <= TOLERANCE for key in ("start", "end"))


def _decision_state(row: Mapping, by_id: Mapping[int, Mapping], groups: Mapping[int, list[dict]]) -> tuple[str, str]:
    """The state of a decision, if the decision itself determines it, and the reason."""
    moment = by_id.get(row["desc_id"])
    if moment is None:
        return UNKNOWN, "no moment of this number is in the corpus"
    if row["decision"] == "flag":
        return FLAGGED, row.get("reason") or ""
    if "time" in row and row["time"][1] > moment["duration"] + TOLERANCE:
        return STALE, f"it ends after the video ({moment['duration']} s)"
    if row["decision"] == "draw":
        return (APPLIED, "") if row["video"] == moment["video"] else (STALE, "the moment has another video now")
    if not _is_in_place(row, moment):
        return STALE, "the moment has another video or other times now"
    if row["decision"] != "withdraw":
        for named in (row, row["instead"]) if row["decision"] == "choose" else (row,):
            if candidate_of(named, groups[row["desc_id"]]) is None:
                return STALE, f"the candidate is not there any more: {named['caption']}"
    return APPLIED, ""


def candidate_of(named: Mapping, group: Iterable[dict]) -> dict | None:
    """The candidate of a moment with the decision's type and caption; its number may have changed."""
    return next((row for row in group if (row["type"], row["caption"]) == (named["type"], named["caption"])), None)


def _majority(votes: Iterable) -> Any:
    """The vote of more than half; None without one."""
    counts = Counter(votes)
    vote, count = max(counts.items(), key=lambda item: item[1], default=(None, 0))
    return vote if 2 * count > counts.total() else None


def _caption_vote(row: Mapping) -> str:
    """The caption that a decision gives the moment: two that accept one caption in different ways agree."""
    if row["decision"] == "choose":
        return row["instead"]["caption"]
    return row["text"].strip() if row["decision"] == "edit" else row["caption"]


def _outcome(rows: list[dict]) -> tuple[dict | None, bool]:
    """(outcome or None, whether the reviewers disagree) of the valid decisions on one moment."""
    for row in rows:
        _state(row, OPEN)
    rejected = _majority(row["decision"] == "reject" for row in rows)
    if rejected is None:
        return None, len(rows) > 1
    voting = [row for row in sorted(rows, key=lambda row: row["when"]) if (row["decision"] == "reject") == rejected]
    for row in rows:
        _state(row, APPLIED if row in voting else OUTVOTED)
    outcome = _named(voting[0], None, voting) if rejected else _acceptance(voting)
    return outcome, any(row["state"] != APPLIED or row["why"] for row in rows)


def _acceptance(rows: list[dict]) -> dict | None:
    """The outcome of decisions to keep the moment, the earliest first: its span and its caption."""
    corrected = [row for row in rows if "time" in row]
    as_shown = sum(row["decision"] == "accept" and "time" not in row for row in rows)
    retimed = len(corrected) >= as_shown
    time = _median_time([row["time"] for row in corrected]) if corrected and retimed else None
    caption = _majority(map(_caption_vote, rows)) or _majority(
        _caption_vote(row) for row in rows if row["decision"] != "accept" or not time or "time" not in row
    )
    for row in rows:
        shared = _caption_vote(row) == caption
        if not shared and not (caption and time and row["decision"] == "accept" and "time" in row):
            _state(row, OUTVOTED if caption else OPEN)
        if "time" in row and not time:
            row["why"] = "the corrected spans differ" if retimed else "more people accept the span as shown"
        elif "time" in row and row["state"] != APPLIED:
            row["why"] = "the captions differ; the span is applied"
    timed = {"time": time} if time else {}
    if caption is None:
        return {**_named({**corrected[0], "decision": RETIMED}, None, corrected), **timed} if time else None
    sharing = [row for row in rows if _caption_vote(row) == caption]
    counted = [row for row in rows if row in sharing or (time and row in corrected)]
    return {**_named(sharing[0], caption, counted), **timed}


def _named(first: Mapping, caption: str | None, counted: list[dict]) -> dict:
    """An outcome based on its first decision, with the names of all agreeing reviewers."""
    named = {} if caption is None else first["instead"] if first["decision"] == "choose" else first
    reasons = [row["reason"] for row in counted if row.get("reason")]
    return {
        "decision": first["decision"],
        "type": named.get("type"),
        "candidate": named.get("candidate"),
        "original": named.get("caption"),
        "caption": caption,
        "reviewers": sorted({row["reviewer"] for row in counted}),
        "when": max(row["when"] for row in counted),
        **({"reason": "; ".join(dict.fromkeys(reasons))} if reasons else {}),
    }


def _median_time(times: list[list[float]]) -> list[float] | None:
    """The median start and end of spans that overlap enough with the median of all; None if these are half or fewer."""
    middle = [median(ends) for ends in zip(*times)]
    near = [time for time in times if tiou(*time, *middle) >= SAME_SPAN]
    return [round(median(ends), 3) for ends in zip(*near)] if 2 * len(near) > len(times) else None


def _judged_scores(outcome: Mapping, rows: list[dict], group: list[dict]) -> list[list]:
    """[score, right] of the captions that an outcome calls right or wrong."""
    if outcome["decision"] == RETIMED:  # no judgement of the caption
        return []
    right = outcome["caption"] if outcome["decision"] in ("accept", "choose") else None
    named = {(row["type"], row["caption"]) for row in rows}
    if outcome["decision"] == "choose":
        named.add((outcome["type"], outcome["caption"]))
    candidates = [row for row in group if (row["type"], row["caption"]) in named]
    return [[row["score"], row["caption"] == right] for row in candidates if finite(row["score"])]
