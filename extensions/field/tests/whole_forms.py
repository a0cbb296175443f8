"""Files of the forms of other benchmarks without a fault, and the commands that read them (see `whole_files`)."""

import shutil
from pathlib import Path

from verified.io.jsonl import read_json, write_json, write_jsonl

FIXTURES = Path(__file__).parent / "fixtures"


def window_files(folder):
    for name in ("truth.jsonl", "submission.jsonl"):
        lines = (FIXTURES / "qvhighlights" / name).read_text().splitlines()
        (folder / name).write_text("\n".join(lines[:8]) + "\n")
    return [
        ["evaluate", "truth.jsonl", "submission.jsonl", "--json"],
        ["evaluate", "truth.jsonl", "submission.jsonl", "--last-of-equal-ids"],
        ["compare", "truth.jsonl", "submission.jsonl", "again=submission.jsonl", "--output", "out"],
    ]


def pairs() -> list[dict]:
    """The ground truth of TVR-Ranking as released: a row for each pair."""
    return [
        {"query_id": query["query_id"], "query": query["query"], **moment}
        for query in read_json(FIXTURES / "tvr-ranking" / "truth.json")
        for moment in query["relevant_moment"]
    ]


def graded_files(folder):
    write_json(folder / "truth.json", read_json(FIXTURES / "tvr-ranking" / "truth.json"))
    write_jsonl(folder / "pairs.jsonl", pairs())
    shutil.copy(FIXTURES / "tvr-ranking" / "submission.json", folder)
    return [
        ["evaluate", "truth.json", "submission.json", "--json"],
        ["evaluate", "pairs.jsonl", "submission.json", "--partial"],
        ["compare", "truth.json", "submission.json", "again=submission.json", "--output", "out"],
    ]


KINDS = (window_files, graded_files)
