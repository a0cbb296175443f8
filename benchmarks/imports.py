"""What a job pays before its work: the packaged encoder and the evaluator, with and without the libraries behind them.

    python benchmarks/imports.py                  # two minutes

Each side is an interpreter of its own, from its start to its end. The library's side has sentence-transformers or
transformers load all-MiniLM-L6-v2 from its folder, as any other encoder is loaded, or takes the layers of the evaluator
from transformers; the own side is what jobs run. The limit is an interpreter that imports torch and nothing else. The
tests of `nn/mini_lm.py` and `nn/bert.py` hold both sides to the same bytes.
"""

import sys

from sides import Row, Side, asked, compare, described, interpreter_seconds

SENTENCE = "from verified.nn.sentences import encode\nencode(['a ball'], {model})"
TOKENS = (
    "from verified.features.text import encode_caption, load_encoder\nencode_caption('a ball', load_encoder({model}))"
)
IDS = "from verified.benchmark.vcmr.tokens import load_tokeniser\nload_tokeniser({model})(['a ball'])"
EVALUATOR = """
from verified.evaluator.checkpoint import load_checkpoint
from verified.evaluator.score import score_candidates
from verified.demo.pretrained.paths import SHIPPED
load_checkpoint(SHIPPED / "evaluator.safetensors")
"""
LAYERS = """
from transformers.models.bert import modeling_bert
from transformers.models.resnet import modeling_resnet
from transformers.models.videomae import modeling_videomae
"""
ENCODERS = {"a sentence vector": SENTENCE, "token features": TOKENS, "token ids": IDS}


def main() -> None:
    options = asked(described(__doc__))
    from verified.nn.mini_lm import NAME, folder

    libraries = ["sentence-transformers", "transformers", "transformers"]
    pairs = [
        (f"{work} of one caption", library, code.format(model=repr(str(folder()))), code.format(model=repr(NAME)))
        for (work, code), library in zip(ENCODERS.items(), libraries)
    ]
    pairs.append(("the evaluator, loaded", "layers of transformers", LAYERS + EVALUATOR, EVALUATOR))
    limit = interpreter("an interpreter that imports torch", "import torch")
    rows = [
        Row(work, "jobs", interpreter("as jobs do it", own), interpreter(library, slow), limit)
        for work, library, slow, own in (pairs[2:3] if options.tiny else pairs)
    ]
    compare(options.turns, *rows)


def interpreter(name: str, code: str) -> Side:
    """A side that is a whole interpreter."""
    return Side(name, lambda: interpreter_seconds("-c", code, environment={"HF_HUB_OFFLINE": "1"})[0], 1)


if __name__ == "__main__":
    sys.exit(main())
