"""The authors' UMT checkpoints (.pth, retrieval or pre-training layout) as ours (safetensors)."""

from pathlib import Path

import torch

from verified.common.errors import InputError
from verified.common.foreign import read_tensors
from verified.evaluator.architecture import Architecture
from verified.evaluator.checkpoint import misfit, save_checkpoint
from verified.evaluator.model import NoiseEvaluator
from verified.evaluator.umt_keys import rename


def import_umt(source: Path, target: Path, size: Architecture) -> dict[str, int]:
    """Convert `source` and write `target`; returns how many tensors were kept and dropped.

    No stored tensor depends on the number of frames, so any number will do. Only parts known to be of no use here are
    dropped (the CLIP teacher, its decoder, the masked-language head); anything else unknown is an error, and so is
    anything missing. A file without a match head or temperature is a vision-only one and is refused like any other
    architecture. Raises InputError that names the first problem.
    """
    tensors = read_tensors(source)
    renamed, dropped, unknown = rename(tensors, size.text_layers)
    if unknown:
        raise InputError(
            f"tensor {unknown[0]!r} ({len(unknown)} such) belongs to no known layout of UMT's retrieval or pre-training"
            " checkpoints", file=source, remedy="is this a checkpoint of another architecture?",
        )  # fmt: skip
    with torch.device("meta"):
        expected = {name: tensor.shape for name, tensor in NoiseEvaluator(size).state_dict().items()}
    problem = misfit({name: tensor.shape for name, tensor in renamed.items()}, expected)
    if problem:
        raise InputError(
            f"not a complete UMT checkpoint of size {size.size}: {problem}", file=source,
            remedy="the retrieval or stage-2 pre-training checkpoint of ViT-L/16 is needed",
        )  # fmt: skip
    save_checkpoint(target, renamed, size, f"UMT, imported from {source.name}")
    return {"kept": len(renamed), "dropped": len(dropped)}
