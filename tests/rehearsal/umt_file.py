"""A checkpoint file with the names and the layout of UMT's authors, at any size, with random weights."""

from pathlib import Path

import torch

from verified.evaluator.settings import Architecture


def shapes(size: Architecture) -> dict[str, tuple[int, ...]]:
    """Names and shapes of the authors' retrieval model, written down from its published structure."""
    shape_of: dict[str, tuple[int, ...]] = {
        "temp": (),
        "text_encoder.embeddings.position_ids": (1, size.text_positions),
    }

    def linear(name: str, out: int, into: int) -> None:
        shape_of[f"{name}.weight"], shape_of[f"{name}.bias"] = (out, into), (out,)

    def norm(name: str, width: int) -> None:
        shape_of[f"{name}.weight"], shape_of[f"{name}.bias"] = (width,), (width,)

    wide, patch = size.vision_width, size.patch_size
    vision = "vision_encoder.encoder"
    shape_of[f"{vision}.patch_embed.proj.weight"] = (wide, 3, 1, patch, patch)
    shape_of[f"{vision}.patch_embed.proj.bias"] = (wide,)
    for block in range(size.vision_layers):
        name = f"{vision}.blocks.{block}"
        norm(f"{name}.norm1", wide), norm(f"{name}.norm2", wide)
        shape_of[f"{name}.attn.q_bias"] = shape_of[f"{name}.attn.v_bias"] = (wide,)
        shape_of[f"{name}.attn.qkv.weight"] = (3 * wide, wide)
        linear(f"{name}.attn.proj", wide, wide)
        linear(f"{name}.mlp.fc1", size.vision_feedforward, wide)
        linear(f"{name}.mlp.fc2", wide, size.vision_feedforward)
    norm(f"{vision}.norm", wide), norm("vision_encoder.pool_norm", wide)
    text, width = "text_encoder.embeddings", size.text_width
    for table, rows in (("word", size.vocabulary), ("position", size.text_positions), ("token_type", 2)):
        shape_of[f"{text}.{table}_embeddings.weight"] = (rows, width)
    norm(f"{text}.LayerNorm", width)
    for layer in range(size.text_layers + size.fusion_layers):
        name = f"text_encoder.encoder.layer.{layer}"
        for attention in ("attention", "crossattention")[: 2 if layer >= size.text_layers else 1]:
            crossed = wide if attention == "crossattention" else width
            linear(f"{name}.{attention}.self.query", width, width)
            linear(f"{name}.{attention}.self.key", width, crossed)
            linear(f"{name}.{attention}.self.value", width, crossed)
            linear(f"{name}.{attention}.output.dense", width, width)
            norm(f"{name}.{attention}.output.LayerNorm", width)
        linear(f"{name}.intermediate.dense", size.text_feedforward, width)
        linear(f"{name}.output.dense", width, size.text_feedforward), norm(f"{name}.output.LayerNorm", width)
    linear("vision_proj", size.embedding, wide)
    linear("text_proj", size.embedding, width)
    linear("itm_head", 2, width)
    return shape_of


def pretraining_layout(weights: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The same tensors as the pre-training file stores them, with what only pre-training needs."""
    renamed = {name.replace("text_encoder.", "text_encoder.bert.", 1): value for name, value in weights.items()}
    return renamed | {
        "text_encoder.cls.predictions.bias": torch.zeros(97),
        "text_encoder.cls.predictions.transform.dense.weight": torch.zeros(32, 32),
        "vision_encoder.clip_decoder.0.head.weight": torch.zeros(8, 48),
        "clip_teacher.conv1.weight": torch.zeros(4, 3, 1, 14, 14),
    }


def write_umt(path: Path, size: Architecture, seed: int = 0) -> Path:
    """Save such a file in the pre-training layout, wrapped in `model`."""
    generator = torch.Generator().manual_seed(seed)
    tensors = {}
    for name, shape in shapes(size).items():
        if name.endswith("position_ids"):
            tensors[name] = torch.arange(shape[1])[None]
        elif "norm" in name.lower() and name.endswith("weight"):
            tensors[name] = torch.ones(shape)
        elif name == "temp":
            tensors[name] = torch.tensor(0.07)
        else:
            tensors[name] = 0.05 * torch.randn(shape, generator=generator)
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.save({"model": pretraining_layout(tensors), "epoch": 9}, path)
    return path
