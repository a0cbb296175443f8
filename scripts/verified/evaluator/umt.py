"""The authors' UMT checkpoints (.pth, retrieval or pre-training layout) as ours (safetensors)."""

import re
from pathlib import Path

import torch
from torch import Tensor

from verified.errors import InputError
from verified.evaluator.checkpoint import save_checkpoint
from verified.evaluator.model import NoiseEvaluator
from verified.evaluator.settings import Architecture
from verified.io.foreign import read_tensors
from verified.nn.checkpoint import misfit

# Parts of the released files that fine-tuning and scoring do not use.
DROPPED = (
    "text_encoder.embeddings.position_ids",
    "text_encoder.cls.predictions.",
    "vision_encoder.clip_decoder.",
    "clip_teacher.",
)
RENAMED = (
    (r"^temp$", "temperature"),
    (r"^vision_encoder\.encoder\.patch_embed\.proj\.", "vision.stem.projection."),
    (r"^vision_encoder\.encoder\.blocks\.(\d+)\.norm1\.", r"vision.layers.\1.layernorm_before."),
    (r"^vision_encoder\.encoder\.blocks\.(\d+)\.norm2\.", r"vision.layers.\1.layernorm_after."),
    (r"^vision_encoder\.encoder\.blocks\.(\d+)\.attn\.q_bias$", r"vision.layers.\1.attention.attention.query.bias"),
    (r"^vision_encoder\.encoder\.blocks\.(\d+)\.attn\.v_bias$", r"vision.layers.\1.attention.attention.value.bias"),
    (r"^vision_encoder\.encoder\.blocks\.(\d+)\.attn\.proj\.", r"vision.layers.\1.attention.output.dense."),
    (r"^vision_encoder\.encoder\.blocks\.(\d+)\.mlp\.fc1\.", r"vision.layers.\1.intermediate.dense."),
    (r"^vision_encoder\.encoder\.blocks\.(\d+)\.mlp\.fc2\.", r"vision.layers.\1.output.dense."),
    (r"^vision_encoder\.encoder\.norm\.", "vision.norm."),
    (r"^vision_encoder\.pool_norm\.", "vision.pool_norm."),
    (r"^text_encoder\.embeddings\.", "text.embeddings."),
    (r"^vision_proj\.", "video_projection."),
    (r"^text_proj\.", "text_projection."),
    (r"^itm_head\.", "match_head."),
)
PACKED = re.compile(r"^vision_encoder\.encoder\.blocks\.(\d+)\.attn\.qkv\.weight$")
TEXT_LAYER = re.compile(r"^text_encoder\.encoder\.layer\.(\d+)\.(.+)$")


def rename(tensors: dict[str, Tensor], text_layers: int) -> tuple[dict[str, Tensor], list[str], list[str]]:
    """Rename the authors' tensors (retrieval or pre-training layout) to ours.

    text_layers: how many BERT layers come before the first with cross-attention (19 of 24 in the paper's size).
    Returns the renamed tensors, the names dropped on purpose, and the unknown names.
    """
    renamed, dropped, unknown = {}, [], []
    for original, tensor in tensors.items():
        name = original.replace("text_encoder.bert.", "text_encoder.", 1)
        if name.startswith(DROPPED):
            dropped.append(original)
        elif match := PACKED.match(name):
            for projection, rows in zip(("query", "key", "value"), tensor.chunk(3)):
                renamed[f"vision.layers.{match[1]}.attention.attention.{projection}.weight"] = rows
        elif match := TEXT_LAYER.match(name):
            layer = int(match[1])
            new_layer = f"text.layers.{layer}" if layer < text_layers else f"fusion.layers.{layer - text_layers}"
            renamed[f"{new_layer}.{match[2]}"] = tensor
        else:
            for pattern, replacement in RENAMED:
                ours, hits = re.subn(pattern, replacement, name)
                if hits:
                    renamed[ours] = tensor
                    break
            else:
                unknown.append(original)
    return renamed, dropped, unknown


def import_umt(source: Path, target: Path, size: Architecture) -> dict[str, int]:
    """Convert `source` and write `target`; returns the numbers of imported and dropped tensors.

    No stored tensor depends on the number of frames, so any number works. Only parts without use here are dropped (the
    CLIP teacher, its decoder, the masked-language head); other unknown or missing tensors are an error. A file without
    a match head or temperature is vision-only and is refused like any other architecture. Raises InputError that names
    the first problem.
    """
    tensors = read_tensors(source)
    renamed, dropped, unknown = rename(tensors, size.text_layers)
    if unknown:
        raise InputError(
            f"tensor {unknown[0]!r} ({len(unknown)} such) belongs to no known layout of UMT's retrieval or pre-training"
            " checkpoints",
            file=source,
            remedy="is this a checkpoint of another architecture?",
        )
    with torch.device("meta"):
        problem = misfit(renamed, NoiseEvaluator(size).state_dict())
    if problem:
        raise InputError(
            f"not a complete UMT checkpoint of size {size.size}: {problem}",
            file=source,
            remedy="the retrieval or stage-2 pre-training checkpoint of ViT-L/16 is needed",
        )
    save_checkpoint(target, renamed, size, f"UMT, imported from {source.name}")
    return {"kept": len(renamed), "dropped": len(dropped)}
