"""Tables of a user's own corpus: moments read, moments excluded, and the cost of captions."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping

from verified.lmm.request import STATUSES
from verified.tables.table import Table, Value

TOTALS = ("attempts", "tokens_in", "tokens_out", "cost", "seconds")


def corpus_table(title: str, key: str, corpus: Mapping, annotations: Mapping) -> Table:
    """Counts of `corpus/counts.json` and `annotations/counts.json`, with omissions and their reasons.

    `key` becomes part of the table's file name.
    """
    rows: list[tuple[Value, ...]] = [
        ("videos in the folder", corpus["videos_found"], ""),
        *(("videos left out", count, reason) for reason, count in corpus["excluded_videos"].items()),
        ("videos used", corpus["videos"], _count_with(corpus, "partial_videos", "of them damaged in part")),
        ("rows of the moments file", corpus["rows"], ""),
        *(("rows left out", count, reason) for reason, count in corpus["excluded_rows"].items()),
        ("moments", corpus["moments"], _count_with({"n": len(corpus["clamped_ends"])}, "n", "ends cut to the video's")),
        *((f"moments of split {split}", count, "") for split, count in corpus["splits"].items()),
        ("candidates", annotations["candidates"], ""),
        ("moments annotated", annotations["annotated"], ""),
        *(("moments not annotated", count, reason) for reason, count in annotations["without"].items()),
        *(("by selection", count, name) for name, count in annotations.get("selection", {}).items()),
    ]
    notes = ("Rows, videos and moments that were left out are listed with their reasons in corpus/exclusions.jsonl.",)
    return Table(
        f"corpus-{key}", f"What came in and what came out of {title}", ("What", "Number", "Which"), tuple(rows), notes
    )


def _count_with(counts: Mapping, name: str, noun: str) -> str:
    return f"{counts[name]} {noun}" if counts.get(name) else ""


def costs_table(
    title: str, key: str, keys: Iterable[str], call_of: Callable[[str], Mapping | None], annotated: int
) -> Table:
    """Cost of the calls behind a data set's captions, by task and model, and per annotated moment.

    `call_of` gives the ledger's row of a key, or None. A call counts once, with all its attempts; seconds are summed
    over calls, many of which run in parallel. Calls that other data sets share are in each table.
    """
    sums: dict[tuple[str, str], Counter] = defaultdict(Counter)
    missing = 0
    for name in dict.fromkeys(keys):
        call = call_of(name)
        if call is None:
            missing += 1
            continue
        tally = sums[call["task"], call["model"]]
        tally["calls"] += 1
        tally[call["status"]] += 1
        for total in TOTALS:
            tally[total] += call[total]
    total = sum(sums.values(), Counter())
    lines = [(*names, tally) for names, tally in sorted(sums.items())] + [("all", "", total)]
    header = ("Task", "Model", "Calls", "Not ok", "Attempts", "Tokens in", "Tokens out", "Money", "Seconds")
    rows: list[tuple[Value, ...]] = [
        (
            task,
            model,
            tally["calls"],
            sum(tally[status] for status in STATUSES if status != "ok"),
            tally["attempts"],
            tally["tokens_in"],
            tally["tokens_out"],
            float(tally["cost"]),
            float(tally["seconds"]),
        )
        for task, model, tally in lines
    ]
    each = max(1, annotated)
    failed = sum(total[status] for status in STATUSES if status != "ok")
    rows.append(
        (
            "all, of an annotated moment",
            "",
            *(float(value) / each for value in (total["calls"], failed, *(total[name] for name in TOTALS))),
        )
    )
    notes = ["Money is by the prices of the configuration (price_in, price_out); without prices it is 0."]
    if missing:
        notes.append(f"{missing} calls are not in the ledger any more.")
    return Table(f"costs-{key}", f"What the captions of {title} took", header, tuple(rows), tuple(notes))
