"""A sentence's way through a search index, beside a scan of every clip.

    python benchmarks/text_search.py                  # 100,000 clips exactly, 300,000 by lists; a minute and a half
    python benchmarks/text_search.py --clips 1000000  # the size of docs/search.md; two minutes more, 3 GB

The index is made up as in `benchmarks/search.py`, which has the table of docs/search.md. Forty queries go from their
vector to ten moments. The scan multiplies each query with all clips as one float32 array in memory and sorts them; the
moments of its hundred videos are found in the same way. The limit is that last step alone. The first row is what comes
before: the sentence to its vector, beside the multiplications of both networks.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
from sides import Row, arithmetic, asked, compare, described, multiplications, side

from search import PER_VIDEO, Corpus, build, encoder

QUERIES, EXACT_CLIPS, VIDEOS, TOP = 40, 200_000, 100, 10
SENTENCE = "a person opens the fridge, takes {number} eggs out of it and then closes it"


def main() -> None:
    parser = described(__doc__)
    parser.add_argument("--clips", nargs="+", type=int, default=[100_000, 300_000])
    options = asked(parser)
    import faiss

    faiss.omp_set_num_threads(1)
    model = encoder()
    compare(options.turns, encoded(model, 2 if options.tiny else QUERIES))
    for clips in [1000] if options.tiny else options.clips:
        with tempfile.TemporaryDirectory() as folder:
            compare(options.turns, found(Path(folder), clips, model))


def encoded(model, count: int) -> Row:
    """Sentences to vectors, one at a time."""

    def sentences() -> None:
        for number in range(count):
            model.query(SENTENCE.format(number=number))

    sentences()
    limit = arithmetic(multiplications(sentences), count)
    return Row("a sentence to its vector", "sentences", side("ours", sentences, count), None, limit)


def found(folder: Path, clips: int, model) -> Row:
    """Queries to moments, in an index of so many clips."""
    import torch

    from verified.search.ask import Index
    from verified.search.vectors import EXACT

    corpus = Corpus(clips // PER_VIDEO)
    index = Index(folder, build(folder, corpus.videos, EXACT_CLIPS), model)
    facts, queries = index.manifest["segments"][0], corpus.queries(QUERIES, 2)
    every = np.concatenate([corpus.clips(video) for video in range(corpus.videos)])
    known = [index.candidates(query, VIDEOS) for query in queries]

    def moments(query, candidates) -> None:
        vector = torch.from_numpy(query[None])
        index.moments({"unit": vector, "localiser": vector}, candidates, TOP)

    def ours() -> None:
        for query in queries:
            moments(query, index.candidates(query, VIDEOS))

    def scan() -> None:
        for query, candidates in zip(queries, known):
            order = np.argsort(-(every @ query), kind="stable") // PER_VIDEO
            _, first = np.unique(order, return_index=True)
            order[np.sort(first)[:VIDEOS]]
            moments(query, candidates)

    def last_step() -> None:
        for query, candidates in zip(queries, known):
            moments(query, candidates)

    kind = "exact" if facts["kind"] == EXACT else f"{facts['probes']} of {facts['lists']} lists"
    sides = (
        side(name, work, len(queries))
        for name, work in (("the index", ours), ("a scan of float32", scan), ("the moments alone", last_step))
    )
    return Row(f"ten moments among {clips:,} clips ({kind})", "queries", *sides)


if __name__ == "__main__":
    sys.exit(main())
