"""Captions to token features, sentence vectors and parts of speech.

    python benchmarks/captions.py                             # made-up captions of 4 to 40 words, a minute and a half
    python benchmarks/captions.py charades_fig_test.jsonl     # published annotations

512 distinct captions, one thread. Token features, of every other one, are beside the same encoder loaded by
transformers, sentence vectors beside batches of 128 as captions come (`sentences.encode` makes them by length); the
limit is the multiplications of the real tokens in the network's matrices. Tagging is what the language statistics load
of spaCy, beside spaCy's whole pipeline with its parser and entities; the limit is the network at its bottom alone. The
last row is both as the rules do them for a file that another configuration has been at (`verified.statistics.cache`).
"""

import contextlib
import json
import random
import shutil
import sys
import tempfile
from itertools import islice
from pathlib import Path

from sides import Row, arithmetic, asked, compare, described, side

CAPTIONS, BATCH = 512, 128
WORDS = ["a", "person", "opens", "the", "wooden", "door", "slowly", "and", "walks", "out", "with", "two", "bags"]


def main() -> None:
    parser = described(__doc__)
    parser.add_argument("annotations", nargs="?", type=Path, help="FIG JSONL, of which the fine captions are taken")
    options = asked(parser)
    texts = captions_of(options.annotations)[: 24 if options.tiny else CAPTIONS]
    compare(options.turns, *encoded(texts))
    compare(options.turns, tagged(texts))
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        compare(options.turns, again(texts))


def captions_of(file: Path | None) -> list[str]:
    """The first distinct fine captions of a file, or made-up ones."""
    if file:
        with file.open(encoding="utf-8") as lines:
            return list(islice(dict.fromkeys(json.loads(line)["fig_desc"] for line in lines), CAPTIONS))
    draw = random.Random(0)
    return [f"{' '.join(draw.choices(WORDS, k=draw.randint(4, 40)))} {number}" for number in range(CAPTIONS)]


def encoded(texts: list[str]) -> list[Row]:
    """Token features and sentence vectors, and their limit."""
    import torch

    from verified.features.text import LibraryTokens, PackagedTokens
    from verified.nn import mini_lm

    torch.set_num_threads(1)
    encoder, own, library = mini_lm.SentenceEncoder(), PackagedTokens(), LibraryTokens(str(mini_lm.folder()))
    in_order = sorted(texts, key=len)[::2]  # as `write_text_features` has them

    @torch.inference_mode()
    def tokens_by(network) -> None:
        for at in range(0, len(in_order), BATCH):
            network(in_order[at : at + BATCH])

    def as_they_come() -> None:
        for at in range(0, len(texts), BATCH):
            encoder.vectors(texts[at : at + BATCH], BATCH)

    count = len(texts)
    _, mask, _ = mini_lm.batch_of(texts, mini_lm.load_tokeniser(mini_lm.SENTENCE_LIMIT))
    size = mini_lm.SIZE
    of_token = size.layers * size.width * (4 * size.width + 2 * size.feed_forward)
    limit = arithmetic(int(mask.sum()) * of_token, count)
    tokens = tuple(
        side(name, lambda network=network: tokens_by(network), len(in_order))
        for name, network in (("ours", own), ("transformers", library))
    )
    vectors = (
        side("by length", lambda: encoder.vectors(texts, BATCH), count),
        side("batches as they come", as_they_come, count),
    )
    return [
        Row("token features of captions", "captions", *tokens, limit),
        Row("sentence vectors of captions", "captions", *vectors, limit),
    ]


def tagged(texts: list[str]) -> Row:
    """Words, lemmas and parts of speech."""
    import spacy

    from verified.statistics.language import load_tagger

    used = load_tagger("en_core_web_sm")
    name = next(name for name in sorted(spacy.util.get_installed_models()) if name.startswith("en_core_web_sm"))
    whole, network = spacy.load(name), spacy.load(name)
    network.select_pipes(enable=["tok2vec"])
    sides = [
        side(what, lambda pipeline=pipeline: tag(texts, pipeline), len(texts))
        for what, pipeline in (("used parts", used), ("spaCy's whole pipeline", whole), ("its network alone", network))
    ]
    return Row("lemmas and parts of speech", "captions", *sides)


def again(texts: list[str]) -> Row:
    """Vectors and parts of speech of one file, with and without what another configuration has kept beside it."""
    from verified.runtime.seals import SHARED
    from verified.statistics.encoding import encode_lists
    from verified.statistics.language import load_tagger
    from verified.statistics.tagging import measure_lists

    tagger = load_tagger("en_core_web_sm")

    def configuration() -> None:
        encode_lists([("fine", texts)])
        measure_lists([("fine", texts)], tagger)

    def first() -> None:
        shutil.rmtree(SHARED, ignore_errors=True)
        configuration()

    first()
    second = side("a second configuration", configuration, len(texts))
    return Row("vectors and parts of speech by file", "captions", second, side("the first", first, len(texts)))


def tag(texts: list[str], pipeline) -> None:
    """All captions through a pipeline of spaCy."""
    for _ in pipeline.pipe(texts, batch_size=256):
        pass


if __name__ == "__main__":
    sys.exit(main())
