"""Stages against the demo's ground truth: the checks behind the validity table.

Each check returns a row: the measure, its value with a 95 % interval, the number of units, and the aim if there is one.
Only these checks and tests read the truth; no stage sees it.
"""

import operator

import numpy as np

from verified.benchmark.auroc import auroc_interval
from verified.benchmark.intervals import compare_paired, share_interval
from verified.benchmark.tiou import tiou
from verified.benchmark.vcmr.results import PerQuery
from verified.demo.caption_facts import caption_facts

STATIC = ("colour", "shape", "size", "texture", "count", "background")
DYNAMIC = ("motion", "direction", "speed")
COMPARISONS = {">=": operator.ge, ">": operator.gt, "<=": operator.le}
Aim = tuple[str, float] | None


def row(
    check: str,
    value: float,
    low: float,
    high: float,
    units: int,
    unit: str,
    aim: Aim = None,
    trainings: int | None = None,
) -> dict:
    """One row of the validity table; not-a-number becomes None. `aim`: a comparison and a bound, (">=", 0.95).

    `trainings` is their number behind a difference of models; a single one gets no verdict on an aim.
    """
    plain = [None if np.isnan(number) else round(float(number), 6) for number in (value, low, high)]
    met = None
    if aim is not None and plain[0] is not None and trainings != 1:
        met = bool(COMPARISONS[aim[0]](plain[0], aim[1]))
    return {
        "check": check,
        "value": plain[0],
        "low": plain[1],
        "high": plain[2],
        "units": units,
        "unit": unit,
        "aim": f"{aim[0]} {aim[1]}" if aim else "",
        "met": met,
        "trainings": trainings,
    }


def ratio_row(check: str, parts: np.ndarray, unit: str, aim: Aim = None) -> dict:
    """A share: `parts` [units, 2] holds hits and trials per unit; whole units were drawn."""
    parts = np.asarray(parts, dtype=np.float64).reshape(-1, 2)
    parts = parts[parts[:, 1] > 0]
    if not len(parts):
        return row(check, np.nan, np.nan, np.nan, 0, unit, aim)
    share = share_interval(parts[:, 0], parts[:, 1])
    bounds = float(share.low), float(share.high)
    return {**row(check, float(share.value), *bounds, int(parts[:, 1].sum()), unit, aim), "share": True}


def cut_recall(truth: list[dict], index: list[dict], segments: int, fps: float) -> dict:
    """Share of true hard cuts inside a moment that are within one frame of a segment boundary.

    Only moments with fewer than `segments` cuts count: with more, the limit itself drops some. `index`: the rows of
    the keyframe archives.
    """
    keyframes_of = {entry["desc_id"]: entry["keyframes"] for entry in index}
    counts = []
    for video in truth:
        for event in video["events"]:
            cuts = [cut for cut in video["cuts"] if event["start"] < cut < event["end"]]
            if not cuts or len(cuts) >= segments or event["desc_id"] not in keyframes_of:
                continue
            edges = [keyframe["segment"][0] for keyframe in keyframes_of[event["desc_id"]]]
            edges += [keyframe["segment"][1] for keyframe in keyframes_of[event["desc_id"]]]
            hits = sum(any(abs(edge - cut) <= 1 / fps + 1e-6 for edge in edges) for cut in cuts)
            counts.append((hits, len(cuts)))
    return ratio_row("hard cuts within one frame of a segment boundary", np.array(counts), "cuts", (">=", 0.95))


def proposed_recall(truth: list[dict], scenes: list[dict]) -> dict:
    """Share of true events that some proposed scene meets at a tIoU of 0.5 or more; videos were drawn.

    `scenes`: rows with video and scenes, [start, end] in seconds, as moments would be proposed without a moments file.
    """
    proposed = {row["video"]: row["scenes"] for row in scenes}
    counts = []
    for video in truth:
        met = [
            any(tiou(event["start"], event["end"], *span) >= 0.5 for span in proposed.get(video["video"], ()))
            for event in video["events"]
        ]
        counts.append((sum(met), len(met)))
    return ratio_row("true events met by a proposed moment at tIoU 0.5", np.array(counts), "events")


def caption_accuracy(truth: list[dict], captions: list[dict]) -> list[dict]:
    """Share of the attributes that captions state which are true, per attribute and over all of a kind.

    `captions` are rows with desc_id and caption.
    """
    true_facts = {event["desc_id"]: _accepted_values(event["facts"]) for video in truth for event in video["events"]}
    counts: dict[int, dict[str, list[int]]] = {}
    for caption in captions:
        facts = true_facts[caption["desc_id"]]
        tally = counts.setdefault(caption["desc_id"], {})
        for attribute, value in attributes_of(caption["caption"]).items():
            if attribute in facts:
                hits = tally.setdefault(attribute, [0, 0])
                hits[0] += value in facts[attribute]
                hits[1] += 1
    rows = []
    for kind, attributes in (("static", STATIC), ("dynamic", DYNAMIC)):
        for name, counted in [(f"all {kind} attributes", attributes), *((name, (name,)) for name in attributes)]:
            parts = [
                np.sum([tally[attribute] for attribute in counted if attribute in tally] or [[0, 0]], axis=0)
                for tally in counts.values()
            ]
            rows.append(ratio_row(f"faithful captions: {name}", np.array(parts), "statements"))
    return rows


def attributes_of(caption: str) -> dict:
    """{attribute: value} of an English caption of the demo, as in `corpus/truth.jsonl`, without attributes that it does
    not state.

    ``background`` is the first named: if the caption mentions a cut, the one before it. A singular ("a ball") states
    the count 1, a bare plural states none.
    """
    stated = caption_facts(caption)
    facts = {name: stated[name] for name in STATIC + DYNAMIC if name in stated}
    return facts | ({"background": stated["backgrounds"][0]} if "backgrounds" in stated else {})


def _accepted_values(facts: dict) -> dict[str, set]:
    """The values of each attribute that are true at some time of the moment (scenes differ in their background)."""
    accepted = {name: {facts[name]} for name in STATIC + DYNAMIC if facts.get(name) is not None}
    accepted["background"] = {scene["background"] for scene in facts["scenes"]}
    return accepted


def mark_false(scores: list[dict], corrupted: list[dict]) -> list[dict]:
    """The scored candidates with the kind of their corruption, static or dynamic, as ``false``; None for faithful."""
    kinds = {(row["desc_id"], row["type"], row["candidate"]): row["kind"] for row in corrupted}
    return [{**row, "false": kinds.get((row["desc_id"], row["type"], row["candidate"]))} for row in scores]


def evaluator_auroc(candidates: list[dict], resamples: int, seed: int) -> list[dict]:
    """AUROC of the evaluator's score between faithful and corrupted candidates, static and dynamic apart.

    `candidates`: rows of `mark_false`, here and below.
    """
    rows = []
    for kind, caption_type, aim in (
        ("static", "statics", (">=", 0.92)),
        ("dynamic", "dynamics", (">=", 0.90)),
    ):
        graded = [entry for entry in candidates if entry["type"] == caption_type and entry["false"] in (None, kind)]
        values = np.array([entry["score"] for entry in graded])
        faithful = np.array([entry["false"] is None for entry in graded], dtype=bool)
        units = np.array([entry["desc_id"] for entry in graded])
        interval = auroc_interval(values, faithful, units, resamples, seed) if len(graded) else None
        area, low, high = interval or (np.nan, np.nan, np.nan)
        check = f"evaluator AUROC, faithful against corrupted {caption_type}"
        rows.append(row(check, area, low, high, len(graded), "captions", aim))
    return rows


def false_captions(candidates: list[dict], annotations: dict[str, list[dict]]) -> list[dict]:
    """Share of false captions among all candidates and among those of each release.

    `annotations`: rows with desc_id, fig_desc_type and fig_desc by release, "chosen" (highest scores) and "lowest".
    """
    marks = {}
    for entry in candidates:
        key = (entry["desc_id"], entry["type"], entry["caption"])
        marks.setdefault(key, []).append(entry["false"] is not None)
    groups = {"candidates": [(*key[:2], false) for key, listed in marks.items() for false in listed]}
    for release, rows in annotations.items():
        keys = [(row["desc_id"], row["fig_desc_type"], row["fig_desc"]) for row in rows]
        # Captions written by people, and coarse captions in place of rejected ones, are not candidates.
        groups[release] = [(*key[:2], marks[key][0]) for key in keys if key in marks]
    out = []
    for group, members in groups.items():
        for kind in ("all", "statics", "dynamics"):
            counts: dict[int, list[int]] = {}
            for desc_id, caption_type, false in members:
                if kind in ("all", caption_type):
                    tally = counts.setdefault(desc_id, [0, 0])
                    tally[0] += false
                    tally[1] += 1
            aim = ("<=", 0.03) if (group, kind) == ("chosen", "all") else None
            check = f"false captions among {group}: {kind}"
            out.append(ratio_row(check, np.array(list(counts.values())), "captions", aim))
    return out


REVIEWED = (0.10, 0.25, 0.50)
"""Shares of the moments under review, lowest scores first."""


def review_gain(candidates: list[dict], chosen: list[dict]) -> list[dict]:
    """Yield of a review that begins with the lowest scores: of the false chosen captions, the share among the
    lowest-scored share of all. In random order the two shares are equal.
    """
    false = {(entry["desc_id"], entry["type"], entry["caption"]) for entry in candidates if entry["false"]}
    ranked = sorted(chosen, key=lambda row: row["fig_desc_score"])
    rows = []
    for share in REVIEWED:
        first = {row["desc_id"] for row in ranked[: round(share * len(ranked))]}
        trials = [
            (row["desc_id"] in first, 1)
            for row in chosen
            if (row["desc_id"], row["fig_desc_type"], row["fig_desc"]) in false
        ]
        check = f"false chosen captions met by reviewing the {share:.0%} of lowest score"
        rows.append(ratio_row(check, np.array(trials), "false captions"))
    return rows


def recall_difference(check: str, first: PerQuery, second: PerQuery, name: str, aim: Aim = None) -> dict:
    """Difference in recall `name` (TASK/METRIC) in points between all trainings of two models, on the same queries."""
    test = compare_paired(100 * first.values[name], 100 * second.values[name], first.video)
    check = f"{check}, {name}{f', {test.trainings} trainings each' if (test.trainings or 0) > 1 else ''}"
    return row(check, test.value, test.low, test.high, len(first.video), "queries", aim, test.trainings)


def many_to_many_ratio(many_to_many: dict) -> dict:
    """Instances of fine captions that share a class, as a share of the coarse ones (Table 2)."""
    coarse, fine = many_to_many["cog"]["instances"], many_to_many["fig"]["instances"]
    share = fine / coarse if coarse else np.nan
    return row(
        "many-to-many instances, FIG as a share of COG", share, np.nan, np.nan, coarse, "COG instances", ("<=", 0.1)
    )
