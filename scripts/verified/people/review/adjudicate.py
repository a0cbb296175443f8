"""What the decisions of all reviewers amount to: one outcome per moment, and the state of each decision.

Of each reviewer the latest decision on a moment counts (a flag counts beside it). A decision is stale when the moment
was moved or its candidate no longer exists; a moment whose number merely changed is followed. Where the decisions that
count agree, theirs is the outcome; where they differ, it is the one that more than half of them share, and the moment
is reported as a conflict either way. Without such a majority the machine's choice remains. Nothing is dropped: every
decision keeps its state.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from verified.io.jsonl import finite

APPLIED, OUTVOTED, OPEN = "applied", "outvoted", "open conflict"
SUPERSEDED, WITHDRAWN, STALE, UNKNOWN, FLAGGED = "superseded", "withdrawn", "stale", "unknown moment", "flagged"
STATES = (APPLIED, OUTVOTED, OPEN, STALE, UNKNOWN, FLAGGED, SUPERSEDED, WITHDRAWN)
TOLERANCE = 1e-3
"""Seconds by which a moment may differ from what was shown; the page rounds to a thousandth."""


def adjudicate(decisions: Iterable[dict], moments: Iterable[Mapping], groups: Mapping[int, list[dict]]) -> dict:
    """`outcomes` by desc_id, `decisions` each with a `state` (and `why`), `conflicts` and `flags` (desc_ids), `judged`.

    `decisions` are rows of `read_decisions` of one data set, `groups` the scored candidates of each moment (see
    `annotations.choose.candidates_by_moment`). An outcome has decision, type and candidate (of the judged or chosen
    caption; None for reject), caption, reviewers, when (the latest) and reason. `judged` are [score, right] of each
    caption on which the outcome says whether it is true, for `precision_threshold`.
    """
    known = {moment["desc_id"]: moment for moment in moments}
    of_video = defaultdict(list)
    for moment in known.values():
        of_video[moment["video"]].append(moment)
    rows = [_follow_moment(row, of_video.get(row["video"], ()), groups) for row in decisions]
    latest: dict[tuple, dict] = {}
    raised: dict[tuple, list[dict]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: row["when"]):
        _state(row, *_decision_state(row, known, groups))
        name = (row["desc_id"], row["reviewer"])
        if row["state"] == FLAGGED:
            raised[name].append(row)
        if row["state"] != APPLIED:
            continue
        if earlier := latest.pop(name, None):
            _state(earlier, WITHDRAWN if row["decision"] == "withdraw" else SUPERSEDED)
        if row["decision"] == "withdraw":
            for taken_back in (row, *raised.pop(name, ())):
                _state(taken_back, WITHDRAWN)
        else:
            latest[name] = row
    by_moment = defaultdict(list)
    for row in latest.values():
        by_moment[row["desc_id"]].append(row)
    outcomes, conflicts, judged = {}, [], []
    for desc_id in sorted(by_moment):
        outcome, split = _outcome(by_moment[desc_id])
        conflicts += [desc_id] if split else []
        if outcome:
            outcomes[desc_id] = outcome
            judged += _judged_scores(outcome, by_moment[desc_id], groups[desc_id])
    flags = sorted({row["desc_id"] for row in rows if row["state"] == FLAGGED})
    return {"outcomes": outcomes, "decisions": rows, "conflicts": conflicts, "flags": flags, "judged": judged}


def _state(row: dict, state: str, why: str = "") -> None:
    row["state"], row["why"] = state, why


def _follow_moment(row: Mapping, moments: Iterable[Mapping], groups: Mapping[int, list[dict]]) -> dict:
    """A copy of a decision under the number that its moment has now, with the one it was shown by as ``shown_as``.

    Where a moments file gives no `desc_id`, rows are counted, and a row inserted at its top moves all numbers. What was
    shown is then found among the `moments` of the video by times and the judged caption, if exactly one has them.
    """
    in_place = [moment["desc_id"] for moment in moments if _is_in_place(row, moment)]
    fitting = [desc_id for desc_id in in_place if candidate_of(row, groups[desc_id]) is not None]
    if len(fitting) != 1 or row["desc_id"] in fitting:
        return dict(row)
    return {**row, "desc_id": fitting[0], "shown_as": row["desc_id"]}


def _is_in_place(row: Mapping, moment: Mapping) -> bool:
    """Whether a moment has the video and the times that a decision was made on."""
    return moment["video"] == row["video"] and all(abs(moment[key] - row[key]) <= TOLERANCE for key in ("start", "end"))


def _decision_state(row: Mapping, known: Mapping[int, Mapping], groups: Mapping[int, list[dict]]) -> tuple[str, str]:
    """The state of a decision as far as it can be told from itself, and why."""
    moment = known.get(row["desc_id"])
    if moment is None:
        return UNKNOWN, "no moment of this number is in the corpus"
    if row["decision"] == "flag":
        return FLAGGED, row.get("reason") or ""
    if not _is_in_place(row, moment):
        return STALE, "the moment has another video or other times now"
    if row["decision"] != "withdraw":
        for named in (row, row["instead"]) if row["decision"] == "choose" else (row,):
            if candidate_of(named, groups[row["desc_id"]]) is None:
                return STALE, f"the candidate is not there any more: {named['caption']}"
    return APPLIED, ""


def candidate_of(named: Mapping, group: Iterable[dict]) -> dict | None:
    """The candidate of a moment with the type and caption that a decision names; its number may have changed."""
    return next((row for row in group if (row["type"], row["caption"]) == (named["type"], named["caption"])), None)


def _result(row: Mapping) -> tuple[str, str | None]:
    """What a decision makes of the moment: two that accept one caption, by whatever way, agree."""
    if row["decision"] == "reject":
        return "reject", None
    if row["decision"] == "choose":
        return "caption", row["instead"]["caption"]
    return "caption", row["text"].strip() if row["decision"] == "edit" else row["caption"]


def _outcome(rows: list[dict]) -> tuple[dict | None, bool]:
    """(outcome or None, whether the reviewers disagree) of the decisions that count on one moment."""
    votes = Counter(_result(row) for row in rows)
    result, count = max(votes.items(), key=lambda item: item[1])
    won = 2 * count > len(rows)
    for row in rows:
        _state(row, APPLIED if won and _result(row) == result else OUTVOTED if won else OPEN)
    if not won:
        return None, True
    first = next(row for row in sorted(rows, key=lambda row: row["when"]) if _result(row) == result)
    named = first["instead"] if first["decision"] == "choose" else first
    kept = result[0] == "caption"
    reasons = [row["reason"] for row in rows if _result(row) == result and row.get("reason")]
    return {
        "decision": first["decision"],
        "type": named["type"] if kept else None,
        "candidate": named["candidate"] if kept else None,
        "original": named["caption"] if kept else None,
        "caption": result[1],
        "reviewers": sorted({row["reviewer"] for row in rows if _result(row) == result}),
        "when": max(row["when"] for row in rows if _result(row) == result),
        **({"reason": "; ".join(dict.fromkeys(reasons))} if reasons else {}),
    }, len(votes) > 1


def _judged_scores(outcome: Mapping, rows: list[dict], group: list[dict]) -> list[list]:
    """[score, right] of the captions that an outcome calls right or wrong."""
    right = outcome["caption"] if outcome["decision"] in ("accept", "choose") else None
    named = {(row["type"], row["caption"]) for row in rows}
    if outcome["decision"] == "choose":
        named.add((outcome["type"], outcome["caption"]))
    candidates = [row for row in group if (row["type"], row["caption"]) in named]
    return [[row["score"], row["caption"] == right] for row in candidates if finite(row["score"])]
