"""What the decisions of all reviewers amount to: one outcome per moment, and the state of each decision.

Of each reviewer the latest decision on a moment counts (a flag counts beside it). A decision is stale when the moment
was moved or its candidate no longer exists; a moment whose number merely changed is followed. Where the decisions that
count agree, theirs is the outcome; where they differ, it is the one that more than half of them share, and the moment
is reported as a conflict either way. Without such a majority the machine's choice remains. Nothing is dropped: every
decision keeps its state.

Times change if more than half of those who share the outcome corrected them: to the median of their starts and of their
ends. A split counts like any outcome; two are the same if times (to a tenth of a second) and captions are. A merge is a
decision on both of its moments, and counts if it is the outcome of both. A drawn moment needs no majority, for only who
saw it can draw it; of two reviewers' that overlap by a tIoU of DRAWN_ALREADY or more, the earlier one counts.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from statistics import median

from verified.benchmark.tiou import tiou
from verified.io.jsonl import finite
from verified.people.review.decisions import BESIDE, content_id, given_times, written_texts

APPLIED, OUTVOTED, OPEN = "applied", "outvoted", "open conflict"
SUPERSEDED, WITHDRAWN, STALE, UNKNOWN, FLAGGED = "superseded", "withdrawn", "stale", "unknown moment", "flagged"
STATES = (APPLIED, OUTVOTED, OPEN, STALE, UNKNOWN, FLAGGED, SUPERSEDED, WITHDRAWN)
TOLERANCE = 1e-3
"""Seconds by which a moment may differ from what was shown; the page rounds to a thousandth."""
DRAWN_ALREADY = 0.5


def adjudicate(decisions: Iterable[dict], moments: Iterable[Mapping], groups: Mapping[int, list[dict]]) -> dict:
    """`outcomes` by desc_id, `drawn` moments, `decisions` each with a `state` (and `why`), `conflicts` and `flags`
    (desc_ids), `judged`.

    `decisions` are rows of `read_decisions` of one data set, `groups` the scored candidates of each moment (see
    `annotations.choose.candidates_by_moment`). An outcome has decision, type and candidate (of the judged or chosen
    caption; None for reject), caption, reviewers, when (the latest) and reason; `time` where it was corrected; and for
    split and merge `parts`, the moments (time, text) that take its place, of which the second of two merged ones has
    none. `drawn` have video, split, duration, time, text, reviewers and when. `judged` are [score, right] of each
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
        if row["decision"] in BESIDE and row["state"] in (FLAGGED, APPLIED):
            raised[name].append(row)
        if row["state"] != APPLIED or row["decision"] in BESIDE:
            continue
        for desc_id in _decided(row):
            if earlier := latest.get((desc_id, row["reviewer"])):
                _state(earlier, WITHDRAWN if row["decision"] == "withdraw" else SUPERSEDED)
                for other in _decided(earlier):
                    latest.pop((other, row["reviewer"]), None)
        if row["decision"] == "withdraw":
            for taken_back in (row, *raised.pop(name, ())):
                _state(taken_back, WITHDRAWN)
        else:
            latest |= {(desc_id, row["reviewer"]): row for desc_id in _decided(row)}
    by_moment = defaultdict(list)
    for (desc_id, _), row in latest.items():
        by_moment[desc_id].append(row)
    outcomes, conflicts, judged = {}, [], []
    for desc_id in sorted(by_moment):
        outcome, split = _outcome(by_moment[desc_id], desc_id)
        conflicts += [desc_id] if split else []
        if outcome:
            outcomes[desc_id] = outcome
            judged += _judged_scores(outcome, by_moment[desc_id], groups[desc_id])
    conflicts += _undo_half_merges(outcomes, by_moment)
    flags = sorted({row["desc_id"] for row in rows if row["state"] == FLAGGED})
    drawn = _drawn([row for kept in raised.values() for row in kept if row["decision"] == "draw"], of_video)
    conflicts = sorted(set(conflicts))
    found = {"outcomes": outcomes, "drawn": drawn, "decisions": rows, "conflicts": conflicts, "flags": flags}
    return {**found, "judged": judged}


def _decided(row: Mapping) -> list[int]:
    """Numbers of the moments that a decision is about."""
    return [row["desc_id"], row["other"]["desc_id"]] if row["decision"] == "merge" else [row["desc_id"]]


def _undo_half_merges(outcomes: dict[int, dict], by_moment: Mapping[int, list[dict]]) -> list[int]:
    """Take out merges that are the outcome of one of their moments only; returns the moments that are open by it."""
    half = [
        desc_id
        for desc_id, outcome in outcomes.items()
        if outcome["decision"] == "merge"
        and not all(outcomes.get(other, {}).get("merged") == outcome["merged"] for other in outcome["merged"])
    ]
    for desc_id in half:
        del outcomes[desc_id]
        for row in by_moment[desc_id]:
            if row["state"] in (APPLIED, OUTVOTED):
                _state(row, OPEN, "the merge is not the outcome of both moments")
    return half


def _drawn(rows: Iterable[dict], of_video: Mapping[str, list[Mapping]]) -> list[dict]:
    """The moments that reviewers drew, the earliest first; the state of a row that repeats another's is changed."""
    drawn: list[dict] = []
    for row in sorted(rows, key=lambda row: row["when"]):
        near = (
            one
            for one in drawn
            if one["video"] == row["video"]
            and tiou(*one["time"], *row["time"]) >= DRAWN_ALREADY
            and (row["reviewer"] not in one["reviewers"] or one["text"] == row["text"].strip())
        )
        if first := next(near, None):
            if first["text"] == row["text"].strip():
                first["reviewers"] = sorted({*first["reviewers"], row["reviewer"]})
            else:
                _state(row, OUTVOTED, f"drawn already by {first['reviewers'][0]}")
            continue
        known = of_video[row["video"]][0]
        drawn.append(
            {
                **{key: known[key] for key in ("video", "split", "duration")},
                "time": row["time"],
                "text": row["text"].strip(),
                "reviewers": [row["reviewer"]],
                "when": row["when"],
            }
        )
    return drawn


def _state(row: dict, state: str, why: str = "") -> None:
    row["state"], row["why"] = state, why


def _follow_moment(row: Mapping, moments: Iterable[Mapping], groups: Mapping[int, list[dict]]) -> dict:
    """A copy of a decision under the number that its moment has now, with the one it was shown by as ``shown_as``.

    Where a moments file gives no `desc_id`, rows are counted, and a row inserted at its top moves all numbers. What was
    shown is found by its content id, and in decisions of version 1 among the `moments` of the video by times and the
    judged caption, if exactly one has them.
    """
    if "moment" in row:
        moments, found = list(moments), dict(row)
        if row["decision"] == "merge":
            found["other"] = {**row["other"], "desc_id": _find(moments, row["other"])}
        desc_id = _find(moments, row)
        if desc_id in (None, row["desc_id"]):
            return found
        return {**found, "desc_id": desc_id, "shown_as": row["desc_id"]}
    in_place = [moment["desc_id"] for moment in moments if _is_in_place(row, moment)]
    fitting = [desc_id for desc_id in in_place if candidate_of(row, groups[desc_id]) is not None]
    if len(fitting) != 1 or row["desc_id"] in fitting:
        return dict(row)
    return {**row, "desc_id": fitting[0], "shown_as": row["desc_id"]}


def _find(moments: Iterable[Mapping], row: Mapping) -> int | None:
    """The number of the moment of a content id; of several that are alike, the one it was shown by, or the first."""
    fitting = [
        moment["desc_id"]
        for moment in moments
        if content_id(moment["video"], moment["start"], moment["end"], moment["caption"]) == row.get("moment")
    ]
    return row["desc_id"] if row.get("desc_id") in fitting else next(iter(fitting), None)


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
    if any(end > moment["duration"] + TOLERANCE for _, end in given_times(row)):
        return STALE, f"it ends after the video ({moment['duration']} s)"
    if row["decision"] == "draw":
        return (APPLIED, "") if row["video"] == moment["video"] else (STALE, "the moment has another video now")
    if row["decision"] == "merge" and row["other"]["desc_id"] in (None, row["desc_id"]):
        return STALE, "the moment that it is merged with is not there any more"
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
    if row["decision"] in ("split", "merge"):
        rounded = ((round(start, 1), round(end, 1)) for start, end in given_times(row))
        return row["decision"], str([sorted(_decided(row)), *rounded, *written_texts(row)])
    if row["decision"] == "choose":
        return "caption", row["instead"]["caption"]
    return "caption", row["text"].strip() if row["decision"] == "edit" else row["caption"]


def _outcome(rows: list[dict], desc_id: int) -> tuple[dict | None, bool]:
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
    sharing = [row for row in rows if _result(row) == result]
    reasons = [row["reason"] for row in sharing if row.get("reason")]
    more = _times(sharing) if kept else {}
    if result[0] in ("split", "merge"):
        parts = [{"time": time, "text": text} for time, text in zip(given_times(first), written_texts(first))]
        second = result[0] == "merge" and desc_id != first["desc_id"]
        more = {"parts": [] if second else parts}
        more |= {"merged": sorted(_decided(first))} if result[0] == "merge" else {}
    return {
        "decision": first["decision"],
        "type": named["type"] if kept else None,
        "candidate": named["candidate"] if kept else None,
        "original": named["caption"] if kept else None,
        "caption": result[1] if kept else None,
        **more,
        "reviewers": sorted({row["reviewer"] for row in sharing}),
        "when": max(row["when"] for row in sharing),
        **({"reason": "; ".join(dict.fromkeys(reasons))} if reasons else {}),
    }, len(votes) > 1


def _times(rows: list[dict]) -> dict:
    """The corrected times of decisions that share an outcome, if more than half of them have some."""
    times = [row["time"] for row in rows if "time" in row]
    return {"time": [round(median(ends), 3) for ends in zip(*times)]} if 2 * len(times) > len(rows) else {}


def _judged_scores(outcome: Mapping, rows: list[dict], group: list[dict]) -> list[list]:
    """[score, right] of the captions that an outcome calls right or wrong."""
    if outcome["decision"] in ("split", "merge"):  # of the caption nothing is said
        return []
    right = outcome["caption"] if outcome["decision"] in ("accept", "choose") else None
    named = {(row["type"], row["caption"]) for row in rows}
    if outcome["decision"] == "choose":
        named.add((outcome["type"], outcome["caption"]))
    candidates = [row for row in group if (row["type"], row["caption"]) in named]
    return [[row["score"], row["caption"] == right] for row in candidates if finite(row["score"])]
