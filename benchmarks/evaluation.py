"""`verified evaluate`, from files to numbers, beside a plain reading of the same files.

    python benchmarks/evaluation.py          # 3,720 queries as Charades-FIG's, half a minute

A submission of VCMR, SVMR and VR lists of 100 rows each. Every side is an interpreter of its own, from its start to its
end. The plain one reads all by `json` and counts VCMR and SVMR in loops over rows; its recalls must be the same. The
limit parses the two files by orjson, the cyclic collector off, and counts nothing.
"""

import json
import sys
import tempfile
from pathlib import Path

import numpy as np
from sides import Row, Side, asked, compare, described, interpreter_seconds

PARSE = """
import gc, orjson, sys
gc.disable()
[orjson.loads(line) for line in open(sys.argv[1])]
orjson.loads(open(sys.argv[2]).read())
"""
PLAIN = """
import json, sys
truth = {row["desc_id"]: row for row in map(json.loads, open(sys.argv[1]))}
submission = json.load(open(sys.argv[2]))
index, recalls = submission["video2idx"], {}
def overlap(a, b, c, d):
    return max(0.0, min(b, d) - max(a, c)) / (max(b, d) - min(a, c))
for task in ("VCMR", "SVMR"):
    hits = dict.fromkeys((0.5, 0.7), 0)
    for entry in submission[task]:
        row = truth[entry["desc_id"]]
        video, (start, end) = index[row["video"]], row["time"]
        best = max(overlap(*span[1:3], start, end) for span in entry["predictions"][:100] if span[0] == video)
        for threshold in hits:
            hits[threshold] += best >= threshold
    recalls[task] = {str(threshold): round(100 * count / len(truth), 2) for threshold, count in hits.items()}
hits = 0
for entry in submission["VR"]:
    video = index[truth[entry["desc_id"]]["video"]]
    hits += any(row[0] == video for row in entry["predictions"])
recalls["VR"] = round(100 * hits / len(truth), 2)
print(json.dumps(recalls))
"""


def main() -> None:
    options = asked(described(__doc__))
    queries = 30 if options.tiny else 3720
    with tempfile.TemporaryDirectory() as folder:
        files = str(Path(folder, "truth.jsonl")), str(Path(folder, "submission.json"))
        write(*files, queries)
        run = {
            "verified evaluate": ("-m", "verified", "evaluate", *files, "--json"),
            "json and loops": ("-c", PLAIN, *files),
            "orjson alone": ("-c", PARSE, *files),
        }
        check(*(json.loads(interpreter_seconds(*run[name])[1]) for name in ("verified evaluate", "json and loops")))
        sides = [
            Side(name, lambda arguments=arguments: interpreter_seconds(*arguments)[0], queries)
            for name, arguments in run.items()
        ]
        compare(options.turns, Row(f"{queries:,} queries, three tasks, lists of 100", "queries", *sides))


def check(ours: dict, plain: dict) -> None:
    """Raise SystemExit unless the recalls at 100 are the same."""
    same = [ours["VR"]["r100"] == plain["VR"]]
    same += [ours[task][f"{tiou}-r100"] == plain[task][tiou] for task in ("VCMR", "SVMR") for tiou in ("0.5", "0.7")]
    if not all(same):
        sys.exit(f"the recalls differ: {ours} and {plain}")


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
