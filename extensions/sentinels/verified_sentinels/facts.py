"""Statements of captions about rendered moments, against the truth.

A caption is false if a fact that it states is: colour, number, direction, … as `verified.demo.caption_facts` reads
them, and the order of the backgrounds that it names. A caption is another moment's if two or more of its facts are
false, and all of them, three or more, are true of another moment.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from scipy import stats

from verified.benchmark.intervals import Interval, share_interval
from verified.demo.caption_facts import Facts, agreement, caption_facts
from verified.errors import InputError
from verified.io.jsonl import read_jsonl
from verified.lmm.refusal import same
from verified.statistics.validity import ratio_row, row

KINDS = {
    "objects": ("shape", "bystander"),
    "colours": ("colour",),
    "numbers": ("count",),
    "sizes and patterns": ("size", "texture"),
    "places": ("background",),
    "actions and speeds": ("motion", "speed"),
    "directions": ("direction", "pan"),
    "order": ("order",),
}
"""Kinds of statements → names of the facts."""
WAYS_OF_MOVING = ("bounces", "circles", "meets")
"""Motions of which "moves" is true as well."""
FALSE_OF_OWN, TRUE_OF_OTHER = 2, 3


def read_truth(file: str | Path) -> dict[int, dict]:
    """Facts by desc_id, of a file in the form of `corpus/truth.jsonl`."""
    return {event["desc_id"]: event["facts"] for video in read_jsonl(file) for event in video["events"]}


def statements(caption: str, truth: Facts) -> dict[str, bool]:
    """Facts that a caption states → whether they are true; `truth` as in `corpus/truth.jsonl`."""
    stated = caption_facts(caption)
    judged = agreement(stated, truth) | _order(stated, truth)
    if stated.get("motion") == "moves" and truth["motion"] in WAYS_OF_MOVING:
        judged["motion"] = True
    return judged


def _order(stated: Facts, truth: Facts) -> dict[str, bool]:
    """Whether several backgrounds, all of which are there, are named in their order."""
    named, scenes = stated.get("backgrounds", []), [scene["background"] for scene in truth["scenes"]]
    if len(named) < 2 or not set(named) <= set(scenes):
        return {}
    remaining = iter(scenes)
    return {"order": all(name in remaining for name in named)}


def judge(captions: Iterable[Mapping], truth: Mapping[int, Facts]) -> list[dict]:
    """A row for each candidate of `captions`, rows of captions/{statics,dynamics} with their `part`.

    Rows have desc_id, type, candidate, part, caption, statements; `another`: whether it is another moment's, and
    `repeated`: whether a caption of another moment is the same.
    """
    rows = [
        {
            "desc_id": moment["desc_id"],
            "type": moment["type"],
            "candidate": number,
            "part": moment["part"],
            "caption": candidate["caption"],
            "statements": statements(candidate["caption"], truth[moment["desc_id"]]),
        }
        for moment in captions
        for number, candidate in enumerate(moment["candidates"])
    ]
    owners: dict[str, set[int]] = {}
    for each in rows:
        owners.setdefault(same(each["caption"]), set()).add(each["desc_id"])
    for each in rows:
        each["another"] = _is_of_another(each, truth)
        each["repeated"] = len(owners[same(each["caption"])]) > 1
    return rows


def _is_of_another(judged: Mapping, truth: Mapping[int, Facts]) -> bool:
    own = judged["statements"]
    if list(own.values()).count(False) < FALSE_OF_OWN:
        return False
    others = (statements(judged["caption"], facts) for key, facts in truth.items() if key != judged["desc_id"])
    return any(len(stated) >= TRUE_OF_OTHER and all(stated.values()) for stated in others)


def false_share(rows: Iterable[Mapping]) -> Interval | None:
    """The share of false statements, with its interval over moments; None if nothing is stated."""
    counts = _counts((row, row["statements"].values()) for row in rows)
    return share_interval(*counts.T) if counts[:, 1].sum() else None


def check_limit(judged: Sequence[Mapping], limit: float) -> None:
    """Raise InputError if the share of false statements is above `limit`, or no caption can be read."""
    remedy = (
        "look at the model and its server before you pay for more captions, or raise the limit; answers are kept: "
        "to ask a mended server again, give its role another `revision`"
    )
    share = false_share(judged)
    if judged and share is None:
        raise InputError(
            f"no statement in the {len(judged)} captions of rendered moments can be read, as "
            f"{judged[0]['caption']!r}; sentinels.limit is {limit:g}",
            remedy=remedy,
        )
    if share is not None and share.low > limit:
        wrong = next(row for row in judged if not all(row["statements"].values()))
        facts = ", ".join(name for name, is_true in wrong["statements"].items() if not is_true)
        raise InputError(
            f"{100 * share.value:.0f} % [{100 * share.low:.0f}, {100 * share.high:.0f}] of the statements in captions "
            f"of rendered moments are false, as {facts} in {wrong['caption']!r}; sentinels.limit is {limit:g}",
            remedy=remedy,
        )


def _counts(rows: Iterable[tuple[Mapping, Iterable[bool]]]) -> np.ndarray:
    """False and all statements [moments, 2], of rows with their statements."""
    tallies: dict[int, list[int]] = {}
    for judged, stated in rows:
        tally = tallies.setdefault(judged["desc_id"], [0, 0])
        for is_true in stated:
            tally[0] += not is_true
            tally[1] += 1
    return np.array(list(tallies.values())).reshape(-1, 2)


def measure(rows: Sequence[Mapping], chosen: Sequence[Mapping], least: float | None, empty: int) -> list[dict]:
    """Rows of the table: shares with 95 % intervals over moments, and numbers of statements or captions.

    `rows` of `judge`; `chosen`: those of captions that a release would have, the highest score of each moment, if not
    below `least`; `empty`: moments without a candidate.
    """
    table = [ratio_row("false statements", _counts((row, row["statements"].values()) for row in rows), "statements")]
    for kind, names in KINDS.items():
        counts = _counts(
            (row, (row["statements"][name] for name in names if name in row["statements"])) for row in rows
        )
        if counts[:, 1].sum():
            table.append(ratio_row(f"false statements: {kind}", counts, "statements"))
    condition = f", confidence of {least:.3g} or more" if least is not None else ""
    table += [
        _captions("captions with a false statement", _read(rows), _is_false),
        _captions(f"chosen captions with a false statement{condition}", _read(chosen), _is_false),
        _captions("captions of another moment", rows, lambda row: row["another"]),
        _captions("captions that another moment has as well", rows, lambda row: row["repeated"]),
        _captions("captions without a statement that can be read", rows, lambda row: not row["statements"]),
    ]
    names = sorted({row["part"] for row in rows})
    for number, name in enumerate(names, start=1):
        counts = _counts((row, row["statements"].values()) for row in rows if row["part"] == name)
        table.append(ratio_row(f"false statements: part {number} of {len(names)}", counts, "statements"))
    if half := len(names) // 2:
        ends = names[:half], names[-half:]
        table.append(_drift(*([row for row in rows if row["part"] in end] for end in ends)))
    return [*table, row("moments without a caption", empty, math.nan, math.nan, empty, "moments")]


def _read(rows: Iterable[Mapping]) -> list[Mapping]:
    """Captions with a statement that can be read: the others are neither true nor false."""
    return [judged for judged in rows if judged["statements"]]


def _is_false(judged: Mapping) -> bool:
    return not all(judged["statements"].values())


def _captions(check: str, rows: Iterable[Mapping], holds: Callable[[Mapping], bool]) -> dict:
    return ratio_row(check, _counts((judged, [not holds(judged)]) for judged in rows), "captions")


def _drift(first: Sequence[Mapping], last: Sequence[Mapping]) -> dict:
    """The mean share of false statements of the last moments minus that of the first, with Welch's interval."""
    check = "false statements: end minus start of the run"
    shares = []
    for rows in (last, first):
        counts = _counts((judged, judged["statements"].values()) for judged in rows)
        counts = counts[counts[:, 1] > 0]
        shares.append(counts[:, 0] / counts[:, 1])
    units = sum(map(len, shares))
    if min(map(len, shares)) < 2:
        return row(check, math.nan, math.nan, math.nan, units, "moments")
    value = shares[0].mean() - shares[1].mean()
    if max(map(np.ptp, shares)) == 0:
        low = high = math.nan
    else:
        low, high = stats.ttest_ind(*shares, equal_var=False).confidence_interval()
    return {**row(check, value, low, high, units, "moments"), "share": True}
