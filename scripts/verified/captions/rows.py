"""Rows of captions/{statics,dynamics}/SHARD.jsonl, their counts, and the record of corrupted candidates."""

from collections import Counter

from verified.lmm.request import Outcome


def candidate_row(moment: dict, kind: str, answer: Outcome | None, count: int, reason: str | None) -> dict:
    """The part that statics and dynamics rows share.

    `shortfall` is the number of missing candidates among `count`, and `reason` why: the status of the failed call, or
    "short" when the answer had too few usable ones. `corrupted` is present only when the engine corrupted candidates on
    purpose; `split_corrupted` removes it.
    """
    captions = answer.parsed.items if answer is not None and answer.status == "ok" else ()
    if answer is not None:
        reason = (answer.reason or None) if answer.status == "ok" else f"{answer.status}: {answer.reason}"
    lineage = answer.key if answer is not None else ""
    row = {
        "desc_id": moment["desc_id"],
        "video": moment["video"],
        "type": kind,
        "candidates": [{"caption": caption, "lineage": lineage} for caption in captions],
        "shortfall": count - len(captions),
        "reason": reason,
        "refused": list(answer.parsed.refused) if answer is not None else [],
    }
    if captions and answer is not None and answer.notes.get("corrupted") is not None:
        row["corrupted"] = _corruption_notes(answer)
    return row


def _corruption_notes(answer: Outcome) -> list[dict]:
    """The engine's notes on the used candidates, with their index among these."""
    usable = {position: index for index, position in enumerate(answer.parsed.positions)}
    return [
        {"candidate": usable[note["candidate"]], "kind": note["kind"], "changed": note["changed"]}
        for note in answer.notes["corrupted"]
        if note["candidate"] in usable
    ]


def split_corrupted(rows: list[dict]) -> tuple[list[dict], list[dict]]:
    """(rows without the record of corrupted candidates, rows of the corrupted file)."""
    corrupted = [
        {"desc_id": row["desc_id"], "type": row["type"], **note} for row in rows for note in row.get("corrupted", [])
    ]
    return [{key: value for key, value in row.items() if key != "corrupted"} for row in rows], corrupted


def shard_counts(rows: list[dict], count: int, outcomes: dict[str, dict]) -> dict:
    """Counts of a shard: moments by completeness (they sum to the moments), candidates, calls by outcome."""
    numbers = [len(row["candidates"]) for row in rows]
    refused = Counter(refusal["reason"] for row in rows for refusal in row["refused"])
    return {
        "moments": len(rows),
        "complete": sum(number == count for number in numbers),
        "short": sum(0 < number < count for number in numbers),
        "without": sum(number == 0 for number in numbers),
        "reasons": dict(sorted(Counter(row["reason"] for row in rows if row["reason"]).items())),
        "candidates": {
            "wanted": count * len(rows),
            "kept": sum(numbers),
            "missing": count * len(rows) - sum(numbers),
        },
        "refused": dict(sorted(refused.items())),
        "calls": outcomes,
    }
