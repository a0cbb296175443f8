"""What a job pays before its work: the packaged encoder and the evaluator, with and without the libraries behind them.

    python benchmarks/imports.py                  # five turns of each, two minutes of a processor

Each side is an interpreter of its own, from its start to its end, in processor seconds. "library" has
sentence-transformers or transformers load all-MiniLM-L6-v2 from its folder, as any other encoder is loaded, or takes
the layers of the evaluator from transformers; "own" is what jobs run. "torch" is the limit: an interpreter that imports
torch and nothing else. The tests of `common/mini_lm.py` and `common/bert.py` hold both sides to the same bytes.
"""

import os
import resource
import subprocess
import sys
from functools import partial

from sides import compare, here

here(__file__)
ENCODED = "from verified.common.sentences import encode\nencode(['a ball'], {model})"
TOKENS = (
    "from verified.features.text import encode_caption, load_encoder\nencode_caption('a ball', load_encoder({model}))"
)
IDS = "from verified.retrieval.tokens import load_tokeniser\nload_tokeniser({model})(['a ball'])"
EVALUATOR = """
from verified.evaluator.checkpoint import load_checkpoint
from verified.evaluator.score import score_candidates
from verified.stand_ins.paths import SHIPPED
load_checkpoint(SHIPPED / "evaluator.safetensors")
"""
LAYERS = """
from transformers.models.bert import modeling_bert
from transformers.models.resnet import modeling_resnet
from transformers.models.videomae import modeling_videomae
"""
PACKAGED = repr("all-MiniLM-L6-v2")


def main() -> None:
    from verified.common.mini_lm import folder

    library = repr(str(folder()))
    for work, code in (("sentence vectors", ENCODED), ("token features", TOKENS), ("token ids", IDS)):
        one(work, code.format(model=library), code.format(model=PACKAGED))
    one("evaluator, loaded", LAYERS + EVALUATOR, EVALUATOR)


def one(work: str, library: str, own: str) -> None:
    """Compare both sides and the limit of one kind of work."""
    sides = {"library": library, "own": own, "torch": "import torch"}
    compare(work, {name: partial(seconds, code) for name, code in sides.items()})


def seconds(code: str) -> float:
    """Processor seconds of an interpreter that runs `code` with one thread."""
    path = os.pathsep.join(filter(None, (sys.path[0], os.environ.get("PYTHONPATH"))))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"},
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    sys.exit(main())
