"""Choosing the fine-grained caption of each moment by the evaluator's confidence (section 3.3), or otherwise.

Of all statics and dynamics candidates of a moment, the one of the highest score becomes the FIG caption and the one
of the lowest score the FIG-lowest caption (Table 7). Candidates stand in one fixed order: statics before dynamics,
then by candidate index. On equal scores the highest is the first of that order and the lowest is the last, so that
two different candidates of equal score are not both chosen for the same role.

What a candidate is chosen by is its `choice`: the score, and where a confidence means nothing (see `config.trust`) its
agreement with the rest of the moment, the cosine to the coarse caption or a random number, as `annotations.choose_by`
says.
"""

from collections import Counter
from collections.abc import Iterable

from verified.errors import InputError
from verified.io.fig import TYPES
from verified.io.jsonl import finite
from verified.runtime.seeds import generator

SCORE_KEYS = ("desc_id", "type", "candidate", "caption", "lineage", "score")
NO_CANDIDATE = "no-scored-candidate"
NO_FINITE_SCORE = "no-finite-score"
COMPARED = {"agreement": "agreement", "encoder": "cosine"}
"""Key of the number by which each way of comparing candidates chooses, in the rows that it writes."""


def candidates_by_moment(moments: Iterable[dict], scores: Iterable[dict]) -> dict[int, list[dict]]:
    """Scored candidates of each moment in the fixed order, chosen by their score; an empty list for a moment without
    any.

    Raises InputError for a score of an unknown moment or type, and for a candidate that was scored twice.
    """
    groups: dict[int, list[dict]] = {moment["desc_id"]: [] for moment in moments}
    seen = set()
    for row in scores:
        name = (row["desc_id"], row["type"], row["candidate"])
        if row["desc_id"] not in groups:
            raise InputError(
                f"a score belongs to moment {row['desc_id']}, which is not in the corpus",
                remedy="score the candidates again",
            )
        if row["type"] not in TYPES:
            raise InputError(f"the score of moment {row['desc_id']} has the unknown type {row['type']!r}")
        if name in seen:
            raise InputError(
                f"candidate {row['candidate']} ({row['type']}) of moment {row['desc_id']} was scored twice",
                remedy="score the candidates again",
            )
        seen.add(name)
        groups[row["desc_id"]].append({**row, "choice": row["score"]})
    for group in groups.values():
        group.sort(key=lambda row: (TYPES.index(row["type"]), row["candidate"]))
    return groups


def choose_by(
    groups: dict[int, list[dict]], by: str, seed: int = 0, similarities: Iterable[dict] = ()
) -> dict[int, list[dict]]:
    """The same candidates with the `choice` of `by`: confidence, agreement, encoder or random.

    `similarities` are rows of `annotations.agreement` or `annotations.similarity`, for these two. Random numbers follow
    from `seed` and from which candidate it is, and from nothing else. Raises InputError for a candidate that has none.
    """
    if by == "confidence":
        return groups
    if by == "random":
        draws = {
            _name(row): generator(seed, "choose", *_name(row)).random() for group in groups.values() for row in group
        }
    else:
        draws = {_name(row): row[COMPARED[by]] for row in similarities}
    try:
        return {
            moment: [{**row, "choice": float(draws[_name(row)])} for row in group] for moment, group in groups.items()
        }
    except KeyError as error:
        raise InputError(f"candidate {error} was not compared", remedy="compare the candidates again") from None


def _name(row: dict) -> tuple[int, str, int]:
    return row["desc_id"], row["type"], row["candidate"]


def choose(candidates: list[dict]) -> tuple[dict, dict] | str:
    """(highest, lowest) of one moment's candidates in the fixed order, or the reason why there is none.

    Candidates whose score is not a finite number cannot be chosen.
    """
    if not candidates:
        return NO_CANDIDATE
    usable = [row for row in candidates if finite(row["score"])]
    if not usable:
        return NO_FINITE_SCORE
    highest = max(usable, key=lambda row: row["choice"])
    lowest = min(reversed(usable), key=lambda row: row["choice"])
    return highest, lowest


def annotate(moments: Iterable[dict], groups: dict[int, list[dict]]) -> tuple[list[dict], list[dict], Counter]:
    """FIG rows, FIG-lowest rows (both in the order of the moments) and, by reason, how many moments have none."""
    highest, lowest, reasons = [], [], Counter()
    for moment in moments:
        outcome = choose(groups[moment["desc_id"]])
        if isinstance(outcome, str):
            reasons[outcome] += 1
            continue
        highest.append(fig_row(moment, outcome[0]))
        lowest.append(fig_row(moment, outcome[1]))
    return highest, lowest, reasons


def fig_row(moment: dict, candidate: dict) -> dict:
    """One row in the released form, with the type and lineage of its caption at the end."""
    spans = {"annotator_times": moment["annotator_times"]} if "annotator_times" in moment else {}
    return {
        "video": moment["video"],
        "time": [moment["start"], moment["end"]],
        "desc_id": moment["desc_id"],
        "duration": moment["duration"],
        "cog_desc": moment["caption"],
        "fig_desc": candidate["caption"],
        "fig_desc_score": candidate["score"],
        "fig_desc_type": candidate["type"],
        "lineage": candidate["lineage"],
        **spans,
    }
