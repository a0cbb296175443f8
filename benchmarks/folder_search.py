"""How far a score can be trusted in an index of videos without captions: sentences whose video is known, or not there.

    verified index clips/
    python benchmarks/folder_search.py clips.index examples/real/folder-queries.csv  # the table of docs/search.md

A row of the queries has `video` and `query`: the videos that show it, with blanks between them and without the folders
that they are in, or none. What the index calls nearly the same is as right. Shares of first videos that are right, with
95 % intervals over sentences.
"""

import argparse
import csv
import sys
from itertools import pairwise
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))

import numpy as np

from verified.benchmark.auroc import auroc
from verified.benchmark.intervals import share_interval
from verified.search.ask import Index
from verified.search.duplicates import alike

BANDS = (0.0, 0.25, 0.5, 0.75, 1.01)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index", type=Path)
    parser.add_argument("queries", type=Path)
    parser.add_argument("--each", action="store_true", help="the first answer to each sentence")
    arguments = parser.parse_args()
    index, rows = Index(arguments.index), []
    groups = alike(index.manifest["duplicates"])
    with arguments.queries.open(encoding="utf-8", newline="") as file:
        asked = [(row["video"].split(), row["query"]) for row in csv.DictReader(file)]
    for videos, query in asked:
        answer = index.ask(query, 1)
        [first] = answer.moments
        same = next((group for group in groups if first.video in group), [first.video])
        right = any(video.split("/")[-1] in videos for video in same)
        rows.append((first.score, right, bool(videos), answer.caution.startswith("The encoder knows nothing")))
        if arguments.each:
            print(f"{query!r} ({' '.join(videos) or 'nowhere'}): {first.video} {first.score:.2f}, {answer.caution}")
    score, right, there, unknown = np.array(rows, float).T
    print("| sentences | number | first video right |\n|---|---|---|")
    kinds = {"that a video shows": there == 1}
    kinds["of these, about what the encoder knows"] = (there == 1) & (unknown == 0)
    kinds["of these, about nothing that it knows"] = (there == 1) & (unknown == 1)
    for low, high in pairwise(BANDS):
        kinds[f"with a score from {low:g} to {min(high, 1):g}, shown or not"] = (score >= low) & (score < high)
    for name, chosen in kinds.items():
        if count := int(chosen.sum()):
            found = share_interval(right[chosen], np.ones(count))
            print(f"| {name} | {count} | {found.value:.0%} [{found.low:.0%}, {found.high:.0%}] |")
    print(f"\nAUROC of the score for a right first video: {auroc(score, right.astype(bool)):.2f}")


if __name__ == "__main__":
    main()
