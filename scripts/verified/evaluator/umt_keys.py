"""Names of the authors' tensors and of ours: a one-to-one map, but for the packed q, k, v and their biases."""

import re

from torch import Tensor

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
    Returns the renamed tensors, the names dropped on purpose, and the names nobody knows.
    """
    renamed, dropped, unknown = {}, [], []
    for original, tensor in tensors.items():
        name = original.replace("text_encoder.bert.", "text_encoder.", 1)
        if name.startswith(DROPPED):
            dropped.append(original)
        elif match := PACKED.match(name):
            for part, rows in zip(("query", "key", "value"), tensor.chunk(3)):
                renamed[f"vision.layers.{match[1]}.attention.attention.{part}.weight"] = rows
        elif match := TEXT_LAYER.match(name):
            layer = int(match[1])
            place = f"text.layers.{layer}" if layer < text_layers else f"fusion.layers.{layer - text_layers}"
            renamed[f"{place}.{match[2]}"] = tensor
        else:
            for pattern, replacement in RENAMED:
                ours, hits = re.subn(pattern, replacement, name)
                if hits:
                    renamed[ours] = tensor
                    break
            else:
                unknown.append(original)
    return renamed, dropped, unknown
