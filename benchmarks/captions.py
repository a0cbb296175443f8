"""What the statistics of captions cost: sentence vectors in batches by length, and spaCy with the parts that are used.

    python benchmarks/captions.py charades_fig_test.jsonl     # published annotations; half a minute of a processor
    python benchmarks/captions.py                             # made-up captions of 4 to 40 words

512 distinct captions, one thread, processor seconds, five turns of each side in one process. "as they come" has batches
of 128 in the order of the file, "by length" those that `sentences.encode` makes; the limit is the multiplications of
the real tokens in the network's matrices at the rate of one large product by oneDNN. "whole pipeline" is spaCy's model
with its parser and its entities, "used parts" what the language statistics load. "first configuration" encodes and tags
the captions as the rules do, "second configuration" does so where the first has been (`verified.statistics.kept`).
"""

import argparse
import contextlib
import json
import random
import shutil
import sys
import tempfile
from functools import partial
from itertools import islice
from pathlib import Path

from networks import rate
from sides import compare, here, processor_seconds

here(__file__)
CAPTIONS, BATCH = 512, 128


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("annotations", nargs="?", type=Path, help="FIG JSONL, of which the fine captions are taken")
    texts = captions_of(parser.parse_args().annotations)
    encoded(texts)
    tagged(texts)
    again(texts)


def captions_of(file: Path | None) -> list[str]:
    """The first distinct fine captions of a file, or made-up ones."""
    if file:
        with file.open(encoding="utf-8") as lines:
            return list(islice(dict.fromkeys(json.loads(line)["fig_desc"] for line in lines), CAPTIONS))
    draw = random.Random(0)
    words = ["a", "person", "opens", "the", "wooden", "door", "slowly", "and", "walks", "out", "with", "two", "bags"]
    return [" ".join(draw.choices(words, k=draw.randint(4, 40))) for _ in range(CAPTIONS)]


def encoded(texts: list[str]) -> None:
    """Sentence vectors in batches as they come and by length, and their limit."""
    import torch

    from verified.common import mini_lm

    torch.set_num_threads(1)
    encoder = mini_lm.SentenceEncoder()
    encoder.vectors(texts[:BATCH], BATCH)

    def as_they_come():
        for at in range(0, len(texts), BATCH):
            encoder.vectors(texts[at : at + BATCH], BATCH)

    ways = {"as they come": as_they_come, "by length": lambda: encoder.vectors(texts, BATCH)}
    medians = compare("512 sentence vectors", {name: partial(processor_seconds, way) for name, way in ways.items()})
    _, mask, _ = mini_lm.batch_of(texts, mini_lm.load_tokeniser(mini_lm.SENTENCE_LIMIT))
    size = mini_lm.SIZE
    of_token = size.layers * size.width * (4 * size.width + 2 * size.feed_forward)
    floor = int(mask.sum()) * of_token / rate()
    print(f"{'':<34}limit {floor:.3f} CPU-s ({int(mask.sum())} tokens), {medians['by length'] / floor:.2f} of it")


def tagged(texts: list[str]) -> None:
    """Words, lemmas and parts of speech by the whole pipeline and by the parts that they need."""
    import spacy

    from verified.statistics.language import load_tagger

    used = load_tagger("en_core_web_sm")
    name = next(name for name in sorted(spacy.util.get_installed_models()) if name.startswith("en_core_web_sm"))
    ways = {"whole pipeline": spacy.load(name), "used parts": used}
    sides = {way: partial(processor_seconds, partial(tag, texts, tagger)) for way, tagger in ways.items()}
    compare("512 captions tagged", sides)


def again(texts: list[str]) -> None:
    """Vectors and parts of speech of one file in a folder of results without and with what another run has kept."""
    from verified.common.seals import SHARED
    from verified.statistics.encoding import encode_lists
    from verified.statistics.language import load_tagger
    from verified.statistics.tagging import measure_lists

    tagger = load_tagger("en_core_web_sm")

    def configuration() -> None:
        encode_lists([("fine", texts)])
        measure_lists([("fine", texts)], tagger)

    def first() -> float:
        shutil.rmtree(SHARED, ignore_errors=True)
        return processor_seconds(configuration)

    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        ways = {"first configuration": first, "second configuration": partial(processor_seconds, configuration)}
        compare("512 captions embedded and tagged", ways)


def tag(texts: list[str], tagger) -> None:
    """All captions through a pipeline of spaCy."""
    for _ in tagger.pipe(texts, batch_size=256):
        pass


if __name__ == "__main__":
    sys.exit(main())
