"""`verified evaluate`, from files to numbers, beside the steps of the official evaluator.

    python benchmarks/evaluation.py          # 3,720 queries as Charades-FIG's, half a minute

A submission of VCMR, SVMR and VR lists of 100 rows each. Every side is an interpreter of its own, from its start to its
end. The official steps: the whole document by `json`, one float32 table per query, all of them padded into one, and
recalls at 1, 5, 10 and 100, which must be the same. The limit parses the two files by orjson, the cyclic collector off,
and counts nothing.
"""

import json
import sys
import tempfile
from pathlib import Path

import numpy as np
from sides import Row, Side, asked, compare, interpreter_seconds

PARSE = """
import gc, orjson, sys
gc.disable()
[orjson.loads(line) for line in open(sys.argv[1])]
orjson.loads(open(sys.argv[2]).read())
"""
OFFICIAL = """
import json, sys
import numpy as np
truth = {row["desc_id"]: row for row in map(json.loads, open(sys.argv[1]))}
submission = json.load(open(sys.argv[2]))
index, recalls = submission["video2idx"], {}
def judge(rows, row):
    listed = np.array([each[:3] for each in rows[:100]], dtype=np.float32)
    there = listed[:, 0] == index[row["video"]]
    start, end = np.array(row["time"], dtype=np.float32)
    common = np.maximum(0, np.minimum(listed[:, 2], end) - np.maximum(listed[:, 1], start))
    hull = np.maximum(listed[:, 2], end) - np.minimum(listed[:, 1], start)
    overlap = np.divide(common, hull, out=np.zeros_like(common), where=hull != 0) * there
    return np.concatenate([listed, there[:, None], (overlap >= 0.5)[:, None], (overlap >= 0.7)[:, None]], axis=1)
for task in ("VCMR", "SVMR", "VR"):
    lists = {entry["desc_id"]: entry["predictions"] for entry in submission[task]}
    judged = [judge(lists[key], row) for key, row in truth.items()]
    table = np.zeros((len(judged), max(map(len, judged)), 6), dtype=np.float32)
    for at, rows in enumerate(judged):
        table[at, : len(rows)] = rows
    there, right = table[..., 3] > 0, {"0.5": table[..., 4] > 0, "0.7": table[..., 5] > 0}
    for k in (1, 5, 10, 100):
        if task == "VR":
            found = {f"r{k}": there[:, :k].any(axis=1)}
        elif task == "VCMR":
            found = {f"{tiou}-r{k}": hits[:, :k].any(axis=1) for tiou, hits in right.items()}
        else:
            found = {
                f"{tiou}-r{k}": [hits[at][there[at]][:k].any() for at in range(len(hits))]
                for tiou, hits in right.items()
            }
        recalls.setdefault(task, {}).update({name: round(100 * np.mean(each), 2) for name, each in found.items()})
print(json.dumps(recalls))
"""


def main() -> None:
    options = asked(__doc__)
    queries = 30 if options.tiny else 3720
    with tempfile.TemporaryDirectory() as folder:
        files = str(Path(folder, "truth.jsonl")), str(Path(folder, "submission.json"))
        write(*files, queries)
        run = {
            "verified evaluate": ("-m", "verified", "evaluate", *files, "--json"),
            "the official steps": ("-c", OFFICIAL, *files),
            "orjson alone": ("-c", PARSE, *files),
        }
        ours, official = (json.loads(interpreter_seconds(*run[name])[1]) for name in list(run)[:2])
        if {task: ours[task] for task in official} != official:
            sys.exit(f"the recalls differ: {ours} and {official}")
        sides = [Side(name, lambda words=words: interpreter_seconds(*words)[0], queries) for name, words in run.items()]
        compare(options.turns, Row(f"{queries:,} queries, three tasks, lists of 100", "queries", *sides))


def write(truth: str, submission: str, queries: int) -> None:
    """Ground truth in the FIG form, and lists in which a right video is among others; times on a grid of 1/8 s."""
    draw = np.random.default_rng(0)
    videos = [f"v{number:05d}" for number in range(max(2, queries // 3))]
    rows = [
        {"desc_id": at, "video": videos[at % len(videos)], "time": [float(at % 20), float(at % 20 + 8)]}
        for at in range(queries)
    ]
    Path(truth).write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    document = {"video2idx": {video: number for number, video in enumerate(videos)}}
    for task in ("VCMR", "SVMR", "VR"):
        found = draw.integers(0, len(videos), (queries, 100))
        right = (np.arange(queries) % len(videos))[:, None]
        found = right + 0 * found if task == "SVMR" else np.where(draw.random((queries, 100)) < 0.05, right, found)
        found[:, 99:] = right  # so that no list lacks it
        start = draw.integers(0, 160, (queries, 100)) / 8
        end = start + draw.integers(16, 96, (queries, 100)) / 8
        scores = -np.sort(-draw.random((queries, 100)), axis=1)
        lists = [np.stack(columns, 1).tolist() for columns in zip(found, start, end, scores)]
        document[task] = [
            {"desc_id": at, "desc": "", "predictions": [[int(row[0]), *row[1:]] for row in one]}
            for at, one in enumerate(lists)
        ]
    Path(submission).write_text(json.dumps(document), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
