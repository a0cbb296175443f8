"""Search with sentences that the index does not hold: each of its parts alone, and all of them together.

    python benchmarks/written_search.py results/demo            # the tables of docs/search.md
    python benchmarks/written_search.py results/demo --split val

Asked of the indices that a finished run of the demo has, for each moment of a split: a paraphrase of its coarse
caption (from the perturbations), another candidate of its fine caption that is true, and its coarse caption, which is
taken out of the index before. One of each kind is drawn with a seed, and none of them is a caption of the index. A
moment is found where a span of its video has a tIoU of at least 0.5 with it; other moments that the sentence fits as
well count as wrong. 95 % intervals are over whole videos.
"""

import argparse
import sys
from functools import cache
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))

import numpy as np
import pandas as pd

from verified.benchmark.intervals import mean_of_training
from verified.benchmark.tiou import tiou
from verified.benchmark.vcmr.metrics import DEPTH
from verified.io.jsonl import read_jsonl
from verified.search.ask import Index, vector_of
from verified.search.captions import KINDS, Captions, read_annotated, stored_vectors
from verified.search.fusion import TEXT_WEIGHTS

RANKS = (1, 5, 10)
CONSTANT = 60
"""Of the reciprocal ranks: 1 / (60 + rank), the usual one."""


def queries(run: Path, split: str, seed: int) -> dict[str, list[tuple[str, dict]]]:
    """(sentence, annotated moment) by kind; at most one of a moment."""
    rows = {row["desc_id"]: row for row in read_annotated(sorted((run / "annotations" / "fig").glob("*.jsonl")))}
    asked = {row["desc_id"]: rows[row["desc_id"]] for row in read_jsonl(run / "annotations" / "fig" / f"{split}.jsonl")}
    indexed = {row[kind] for row in rows.values() for kind in KINDS}
    false = {
        (row["desc_id"], row["type"], row["candidate"])
        for file in (run / "captions" / "corrupted").glob("*.jsonl")
        for row in read_jsonl(file)
    }
    paraphrases: dict[int, list[str]] = {}
    for file in sorted((run / "perturbations").glob("shard-*[0-9].jsonl")):
        paraphrases |= {row["desc_id"]: row["positives"] for row in read_jsonl(file)}
    candidates: dict[int, list[str]] = {}
    for row in pd.read_parquet(run / "annotations" / "candidates.parquet").itertuples():
        if row.outcome == "ok" and (row.desc_id, row.type, row.candidate) not in false:
            candidates.setdefault(row.desc_id, []).append(row.caption)
    draw, kinds = np.random.default_rng(seed), {}
    for name, texts in (("paraphrases", paraphrases), ("other candidates", candidates)):
        new = {number: [text for text in texts.get(number, ()) if text not in indexed] for number in sorted(asked)}
        kinds[name] = [(str(draw.choice(some)), asked[number]) for number, some in new.items() if some]
    return kinds | {"coarse captions": [(row["coarse"], row) for row in asked.values()]}


def ranks(moments, truth: dict) -> list[float]:
    """Ranks of the moment and of its video in a list; infinite where it is not there."""
    videos = list(dict.fromkeys(one.video for one in moments))
    video = videos.index(truth["video"]) + 1 if truth["video"] in videos else np.inf
    spans = (
        rank
        for rank, one in enumerate(moments, 1)
        if one.video == truth["video"] and tiou(one.start, one.end, truth["start"], truth["end"]) >= 0.5
    )
    return [next(spans, np.inf), video]


def by_reciprocal_rank(lists: list) -> list:
    """The annotated or located moments of several lists, by the sum of 1 / (60 + rank)."""
    total: dict[tuple, float] = {}
    named = {}
    for found in lists:
        for rank, one in enumerate(found, 1):
            key = one.video, one.start, one.end
            total[key], named[key] = total.get(key, 0.0) + 1 / (CONSTANT + rank), one
    return [named[key] for key in sorted(total, key=lambda key: -total[key])]


def searched(index: Index, sentence: str, located: list, weights: dict[str, float]) -> list:
    """The moments for a sentence where its parts weigh so much; 0 for one that is not named."""
    index.weights = {**dict.fromkeys([*TEXT_WEIGHTS, index.manifest["model"]], 0.0), **weights}
    return index.fused(sentence, vector_of(index.encoder.query(sentence)), located, DEPTH, None)[0]


def searches(indices: list[Index], asked: list[tuple[str, dict]], written: dict[str, float]) -> dict[str, np.ndarray]:
    """By row of the table, the ranks [queries, 2] of the right moment and video."""
    found: dict[str, list] = {}
    for sentence, truth in asked:
        rows, fused = {}, {}
        for index in indices:
            model = index.manifest["model"]
            query = index.encoder.query(sentence)
            candidates = index.candidates(vector_of(query), index.manifest["searched_videos"])
            rows[f"{model} alone"] = located = index.moments(query, candidates, DEPTH)
            weights = {**written, model: index.manifest["weights"][model]}
            fused[f"written and {model}"] = searched(index, sentence, located, weights)
        parts = {f"{part} alone": searched(indices[0], sentence, [], {part: 1.0}) for part in written}
        one = indices[0].manifest["model"]
        fused["written"] = searched(indices[0], sentence, [], written)
        fused[f"written and {one}, reciprocal ranks"] = by_reciprocal_rank([*parts.values(), rows[f"{one} alone"]])
        for name, moments in {**rows, **parts, **fused}.items():
            found.setdefault(name, []).append(ranks(moments, truth))
    return {name: np.array(values) for name, values in found.items()}


def table(found: dict[str, np.ndarray], videos: list[str]) -> str:
    """Recalls in percent and mean reciprocal ranks, as Markdown."""
    measures = [*(f"R@{rank}" for rank in RANKS), "MRR"]
    heads = ["search", *(f"{what} {name}" for what in ("moment", "video") for name in measures)]
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for name, values in found.items():
        cells = []
        for column in values.T:
            for rank in RANKS:
                told = mean_of_training((column <= rank).astype(float), videos, unit=100)
                cells.append(_cell(told, 1))
            cells.append(_cell(mean_of_training(1 / column, videos), 3))
        lines.append(f"| {' | '.join([name, *cells])} |")
    return "\n".join(lines)


def _cell(told: dict, digits: int) -> str:
    bounds = "" if told["low"] is None else f" [{told['low']:.{digits}f}, {told['high']:.{digits}f}]"
    return f"{told['value']:.{digits}f}{bounds}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="the folder of the demo in results")
    parser.add_argument("--index", type=Path, nargs="+", help="indices of it (default: all that it has)")
    parser.add_argument("--split", default="test")
    parser.add_argument("--queries", type=int, help="so many of each kind, drawn (default: all)")
    parser.add_argument("--kinds", nargs="+", help="paraphrases, other candidates, coarse captions (default: all)")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    folders = arguments.index or sorted(path.parent for path in (arguments.run / "search").glob("*/index.json"))
    indices = [Index(folder) for folder in folders]
    for index in indices:
        index.encoder.query = cache(index.encoder.query)
    vectors, whole = stored_vectors(folders[0]), indices[0].captions.all
    for kind, asked in queries(arguments.run, arguments.split, arguments.seed).items():
        if kind not in (arguments.kinds or [kind]):
            continue
        if arguments.queries and len(asked) > arguments.queries:
            drawn = np.random.default_rng(arguments.seed).permutation(len(asked))[: arguments.queries]
            asked = [asked[at] for at in sorted(drawn)]
        without = kind == "coarse captions"
        captions = Captions([{**row, "coarse": ""} for row in whole] if without else whole, vectors)
        captions.scores = cache(captions.scores)
        for index in indices:
            index.captions = captions
        weights = {name: weight for name, weight in TEXT_WEIGHTS.items() if not (without and name == "coarse")}
        print(f"\n{kind}, {len(asked)} queries:\n")
        print(table(searches(indices, asked, weights), [row["video"] for _, row in asked]), flush=True)


if __name__ == "__main__":
    main()
