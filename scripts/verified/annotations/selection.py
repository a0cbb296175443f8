"""The fine-grained caption of each moment: by the evaluator's confidence (section 3.3) or otherwise.

Of all statics and dynamics candidates of a moment, the one of the highest score becomes the FIG caption and the one of
the lowest score the FIG-lowest caption (Table 7). Candidates have a fixed order: statics before dynamics, then by
candidate index. On equal scores the highest is the first of that order and the lowest is the last, so that two
different candidates of equal score are not both chosen for the same role.

A candidate's `choice` is its rank value: the score, or if confidence is meaningless (see `config.trust`) its agreement
with the rest of the moment or a random number, as `annotations.choose_by` sets.

A caption below the smallest score allowed is omitted or replaced by the coarse one (`annotations.otherwise`), and is
counted. An extension can decide by more than the score (`select`).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from verified.config.annotations import Annotations
from verified.errors import InputError
from verified.io.fig import COARSE, COG_KEYS, TYPES
from verified.io.jsonl import finite, read_jsonl
from verified.lmm.refusal import same
from verified.runtime.seeds import generator

CHOICE = ("best", "choose_by", "min_quantile", "min_score", "otherwise")
"""The settings of annotations that this module reads."""
SCORE_KEYS = ("desc_id", "type", "candidate", "caption", "lineage", "score")
NO_CANDIDATE = "no-scored-candidate"
NO_FINITE_SCORE = "no-finite-score"


def candidates_by_moment(moments: Iterable[dict], scores: Iterable[dict]) -> dict[int, list[dict]]:
    """Scored candidates of each moment in the fixed order, chosen by their score; an empty list for a moment without
    any.

    Raises InputError for a score of an unknown moment or type, and for a candidate that was scored twice.
    """
    groups: dict[int, list[dict]] = {moment["desc_id"]: [] for moment in moments}
    names = set()
    for row in scores:
        name = (row["desc_id"], row["type"], row["candidate"])
        if row["desc_id"] not in groups:
            raise InputError(
                f"a score belongs to moment {row['desc_id']}, which is not in the corpus",
                remedy="score the candidates again",
            )
        if row["type"] not in TYPES:
            raise InputError(f"the score of moment {row['desc_id']} has the unknown type {row['type']!r}")
        if name in names:
            raise InputError(
                f"candidate {row['candidate']} ({row['type']}) of moment {row['desc_id']} was scored twice",
                remedy="score the candidates again",
            )
        names.add(name)
        groups[row["desc_id"]].append({**row, "choice": row["score"]})
    for group in groups.values():
        group.sort(key=lambda row: (TYPES.index(row["type"]), row["candidate"]))
    return groups


def read_candidates(
    moments: Iterable[dict], scores: Iterable[str], by: str = "confidence", seed: int = 0, agreement: Iterable[str] = ()
) -> dict[int, list[dict]]:
    """The candidates of `candidates_by_moment` with the `choice` of `choose_by`, from files of scores and agreement."""
    groups = candidates_by_moment(moments, [row for path in scores for row in read_jsonl(path, SCORE_KEYS)])
    return choose_by(groups, by, seed, [row for path in agreement for row in read_jsonl(path)])


def choose_by(
    groups: dict[int, list[dict]], by: str, seed: int = 0, agreement: Iterable[dict] = ()
) -> dict[int, list[dict]]:
    """The same candidates with the `choice` of `by`: confidence, agreement or random.

    `agreement` holds rows of `annotations.agreement`. Random numbers depend on `seed` and the candidate's identity
    alone. Raises InputError for a candidate without a value.
    """
    if by == "confidence":
        return groups
    if by == "random":
        draws = {
            _name(row): generator(seed, "choose", *_name(row)).random() for group in groups.values() for row in group
        }
    else:
        draws = {_name(row): row["agreement"] for row in agreement}
    try:
        return {
            moment: [{**row, "choice": float(draws[_name(row)])} for row in group] for moment, group in groups.items()
        }
    except KeyError as error:
        raise InputError(f"candidate {error} was not compared", remedy="compare the candidates again") from None


def _name(row: dict) -> tuple[int, str, int]:
    return row["desc_id"], row["type"], row["candidate"]


def choose(candidates: list[dict]) -> tuple[dict, dict] | str:
    """(highest, lowest) of one moment's candidates in the fixed order, or the reason for their absence.

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
    """FIG rows, FIG-lowest rows (both in the order of the moments) and the number of moments without one, by reason."""
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
    coarse = coarse_row(moment)
    return {
        **{key: coarse.pop(key) for key in COG_KEYS},
        "fig_desc": candidate["caption"],
        "fig_desc_score": candidate["score"],
        "fig_desc_type": candidate["type"],
        "lineage": candidate["lineage"],
        **coarse,
    }


def coarse_row(moment: Mapping) -> dict:
    """The row of a moment in the released form without a fine caption."""
    spans = {"annotator_times": moment["annotator_times"]} if "annotator_times" in moment else {}
    return {
        "video": moment["video"],
        "time": [moment["start"], moment["end"]],
        "desc_id": moment["desc_id"],
        "duration": moment["duration"],
        "cog_desc": moment["caption"],
        **spans,
    }


REJECTED, BELOW = "rejected", "below-min-score"


def smallest_score(scores: Iterable[float], settings: Annotations) -> float | None:
    """The smallest score allowed: the higher of the two limits; None: any.

    `scores` are those of a split's captions. `min_quantile` is the share of `scores` below the limit. Raises InputError
    for a `min_score` that no caption reaches: it is then on another scale.
    """
    listed, limit = sorted(scores), settings.min_score
    if limit is not None and listed and limit > listed[-1]:
        raise InputError(
            f"annotations.min_score = {limit:g} is above every confidence, {listed[0]:.3g} to {listed[-1]:.3g}",
            remedy="lower it, or set annotations.min_quantile, which asks for a share of the captions",
        )
    least = [] if limit is None else [limit]
    least += [listed[int(settings.min_quantile * len(listed))]] if settings.min_quantile and listed else []
    return max(least, default=None)


def by_score(row: dict, group: list[dict], least: float | None) -> tuple[dict, str]:
    """A FIG row, and whether its score is high enough: kept or below-min-score."""
    return row, BELOW if least is not None and row["fig_desc_score"] < least else "kept"


def select(
    rows: Iterable[dict],
    groups: Mapping[int, list[dict]],
    least: float | None,
    settings: Annotations,
    decide: Callable[[dict, list[dict], float | None], tuple[dict, str]] = by_score,
) -> tuple[list[dict], dict[int, str], Counter]:
    """FIG rows to write, reasons of moments without one (by desc_id), and counts of decisions.

    `rows` are those of `annotate`, `least` is the smallest score allowed. `decide` gives the row to write, and a
    decision: REJECTED and BELOW refuse the caption. With `best` above 1, a row gets up to so many captions: the others,
    in falling order of choice, under ``further``. Counts: each decision; fell-back and left-out of those refused.
    """
    selected, omitted, counts = [], {}, Counter()
    for row in rows:
        group = groups[row["desc_id"]]
        new, decision = decide(row, group, least)
        counts[decision] += 1
        if decision in (REJECTED, BELOW):
            counts["left-out" if settings.otherwise == "leave-out" else "fell-back"] += 1
            if settings.otherwise == "leave-out":
                omitted[row["desc_id"]] = decision
                continue
            new = {**new, "fig_desc": row["cog_desc"], "fig_desc_type": COARSE}
        elif settings.best > 1:
            new = {**new, "further": _extra_captions(new, row, group, least, settings.best - 1)}
        selected.append(new)
    return selected, omitted, counts


def _extra_captions(new: Mapping, row: Mapping, group: list[dict], least: float | None, most: int) -> list[dict]:
    """The next best candidates with another text; the caption of `row` is excluded too, if `new` has another."""
    used = {same(new["fig_desc"]), same(row["fig_desc"])}
    further = []
    for entry in sorted((c for c in group if finite(c["score"])), key=lambda c: -c["choice"]):
        if len(further) == most or (least is not None and entry["score"] < least):
            continue
        if same(entry["caption"]) not in used:
            used.add(same(entry["caption"]))
            further.append(
                {
                    "fig_desc": entry["caption"],
                    "fig_desc_score": entry["score"],
                    "fig_desc_type": entry["type"],
                    "lineage": entry["lineage"],
                }
            )
    return further
