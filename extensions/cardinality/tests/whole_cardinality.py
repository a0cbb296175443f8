"""Files of any number of moments without a fault, and the commands that read them (see `whole_files`)."""

import json
import shutil
from pathlib import Path

from verified.io.jsonl import read_jsonl, write_json, write_jsonl

FIXTURES = Path(__file__).parent / "fixtures"


def any_number_files(folder):
    for file in FIXTURES.iterdir():
        shutil.copy(file, folder)
    rows = read_jsonl(FIXTURES / "test.jsonl")
    table = [f"{row['desc_id']}\t{row['video']}\tWhen?\t{json.dumps(row['spans'])}\n" for row in rows]
    (folder / "bench.tsv").write_text("id\tvideo\tquestion\tanswer\n" + "".join(table))
    write_json(folder / "videos.json", {"test-a": {"duration": 30, "spans": [[1, 2], [5, 9]], "queries": ["a", "b"]}})
    moments = [{"desc_id": n, "video": "test-a", "time": [n, n + 2], "duration": 30.0} for n in range(2)]
    write_jsonl(folder / "moments.jsonl", moments)
    alike = {"split": "moments", "id": "1", "check": "ambiguous", "detail": "query 0 at 0.00–2.00 s"}
    write_jsonl(folder / "findings.jsonl", [alike])
    write_jsonl(folder / "twins.jsonl", [{"desc_id": 0, "twin": "a cat runs"}])
    parts = {"moments": "moments.jsonl", "ambiguous": "findings.jsonl", "absent": "twins.jsonl"}
    write_json(folder / "parts.json", parts)
    val = ["--val", "val.jsonl", "val-answers.json", "--json"]
    return [
        ["evaluate", "test.jsonl", "test-answers.json", *val],
        ["evaluate", "bench.tsv", "test-answers.json", "--nms-threshold", "0.5"],
        ["evaluate", "videos.json", "test-answers.json", "--partial"],
        ["evaluate", "parts.json", "test-answers.json", "--absent", "test-answers.json", "--partial"],
        ["compare", "test.jsonl", "test-answers.json", "again=test-answers.json", "--output", "out"],
    ]


KINDS = (any_number_files,)
