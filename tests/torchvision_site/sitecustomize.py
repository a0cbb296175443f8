"""Lets torchvision be imported beside a CPU torch; on the path of `make test-vllm` and `make rehearsal` only.

The common wheel of torchvision brings its operators compiled for CUDA. Where they do not load, `import torchvision`
fails, because it describes operators that nobody declared. Once they are declared, all that is written in Python works,
and the picture processors of LLaVA-NeXT and Qwen-VL use nothing else. Python imports this module when it starts, so
that the processes that vLLM starts have it too.
"""

import importlib.util
import sys
from importlib.abc import MetaPathFinder
from pathlib import Path

DECLARED = ("nms", "qnms")


class DeclareOperators(MetaPathFinder):
    """Declares the missing operators just before torchvision itself is looked for."""

    def find_spec(self, name, path=None, target=None):
        if name == "torchvision":
            sys.meta_path.remove(self)
            spec = importlib.util.find_spec(name)
            if spec is not None:
                self._declare(Path(spec.origin).parent)
        return None

    def _declare(self, package: Path) -> None:
        import torch

        try:
            for file in package.glob("_C*.so"):
                torch.ops.load_library(file)
        except OSError:
            # The declarations last as long as this object does.
            self.library = torch.library.Library("torchvision", "DEF")
            for operator in DECLARED:
                self.library.define(f"{operator}(Tensor boxes, Tensor scores, float iou_threshold) -> Tensor")
            sys.modules[__name__].declared = self


sys.meta_path.insert(0, DeclareOperators())
