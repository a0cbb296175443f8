"""Search on the real clips of config/real.yaml, with sentences that the index does not hold: each part alone, and all.

    make real
    python benchmarks/real_search.py results/real/search/joint examples/real/queries.csv  # the table of docs/search.md

The queries were written by looking at the clips, and name a span of a video. A moment is found where a span of its
video has a tIoU of at least 0.5 with it. Chance: the annotated moments in a drawn order, 1,000 times. 95 % intervals
are over queries; so few videos carry none.
"""

import argparse
import csv
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))

import numpy as np
from written_search import ranks, searched, table

from verified.benchmark.vcmr.metrics import DEPTH
from verified.search.ask import Index, Moment, vector_of
from verified.search.fusion import TEXT_WEIGHTS

DRAWS = 1000


def read_queries(path: Path) -> list[tuple[str, dict]]:
    """(sentence, video with start and end in seconds) by query."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [
        (row["query"], {"video": row["video"], "start": float(row["start"]), "end": float(row["end"])}) for row in rows
    ]


def searches(index: Index, asked: list[tuple[str, dict]]) -> dict[str, np.ndarray]:
    """By row of the table, the ranks [queries, 2] of the right moment and video."""
    model, found = index.manifest["model"], {}
    own = index.manifest["weights"]
    written = {name: own[name] for name in TEXT_WEIGHTS}
    for sentence, truth in asked:
        query = index.encoder.query(sentence)
        located = index.moments(query, index.candidates(vector_of(query), index.manifest["searched_videos"]), DEPTH)
        lists = {
            f"{model} alone": searched(index, sentence, located, {model: 1.0}),
            **{f"{part} alone": searched(index, sentence, [], {part: 1.0}) for part in written},
            "written": searched(index, sentence, [], written),
            "all parts, as `verified search`": searched(index, sentence, located, own),
        }
        for name, moments in lists.items():
            found.setdefault(name, []).append(ranks(moments, truth))
    return {name: np.array(values) for name, values in found.items()}


def chance(index: Index, asked: list[tuple[str, dict]], seed: int) -> np.ndarray:
    """Ranks [draws x queries, 2] where the annotated moments are listed in a drawn order."""
    draw = np.random.default_rng(seed)
    moments = [Moment(row["video"], row["start"], row["end"], 0.0, 0.0, None, 0.0) for row in index.captions.all]
    return np.array(
        [
            ranks([moments[at] for at in draw.permutation(len(moments))], truth)
            for _ in range(DRAWS)
            for _, truth in asked
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index", type=Path)
    parser.add_argument("queries", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--each", action="store_true", help="what all parts find first, and the rank of what is right")
    arguments = parser.parse_args()
    index, asked = Index(arguments.index), read_queries(arguments.queries)
    found = searches(index, asked)
    print(table(found, [str(number) for number in range(len(asked))]))
    by_chance = chance(index, asked, arguments.seed)
    print(table({"chance": by_chance}, ["one"] * len(by_chance)).splitlines()[-1])
    if arguments.each:
        names = list(found)
        for number, (sentence, truth) in enumerate(asked):
            told = ", ".join(f"{name.split(',')[0]} {found[name][number].tolist()}" for name in (names[0], names[-1]))
            place = f"{truth['video']} {truth['start']}-{truth['end']}"
            print(f"{sentence!r} ({place}): ranks of moment and video: {told}")


if __name__ == "__main__":
    main()
