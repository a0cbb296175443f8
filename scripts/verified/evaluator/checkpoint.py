"""The evaluator's checkpoints: safetensors whose header holds the architecture and where the weights come from; the
authors' UMT checkpoints (.pth, retrieval or pre-training layout) as ours.
"""

import re
from pathlib import Path

import torch
from torch import Tensor

from verified.demo.pretrained import SHIPPED
from verified.errors import InputError
from verified.evaluator.model import NoiseEvaluator
from verified.evaluator.settings import Architecture, from_header
from verified.io.foreign import read_tensors
from verified.nn.checkpoint import Form, load, load_facts, misfit, save
from verified.runtime.project import check_card

FORM = Form("evaluator", 1, "train the evaluator again; a .pth file of UMT is converted by: verified import umt FILE")
TABLE = "text.embeddings.word_embeddings.weight"
WORDS = "text.embeddings.words"
"""Tensor of a compact checkpoint: the word ids of the rows of TABLE."""


def save_checkpoint(path: str | Path, tensors: dict[str, torch.Tensor], size: Architecture, origin: str) -> None:
    """Write float32 tensors with a header; `origin` says in words where the weights come from."""
    facts = {"architecture": size.as_dict(), "origin": origin}
    save(path, FORM, {name: tensor.detach().float() for name, tensor in tensors.items()}, facts)


def save_compact(path: str | Path, model: NoiseEvaluator, words: torch.Tensor, origin: str) -> None:
    """Write a small checkpoint: half precision, and of the word embeddings the rows of `words` (boolean [vocabulary]).

    The words that are omitted become vectors of zeros when it is loaded.
    """
    tensors = {name: t.half() if t.is_floating_point() else t for name, t in model.state_dict().items()}
    tensors |= {TABLE: tensors[TABLE][words], WORDS: torch.nonzero(words)[:, 0].int()}
    save(path, FORM, tensors, {"architecture": model.size.as_dict(), "origin": origin})


def read_header(path: str | Path) -> tuple[Architecture, str]:
    """Architecture and origin of a checkpoint. Raises InputError for a file that is none; see `nn.checkpoint.load`."""
    header = load_facts(path, FORM)
    if not isinstance(header.get("origin"), str):
        raise InputError("damaged: its header lacks the origin", file=path)
    return from_header(header.get("architecture"), Path(path)), header["origin"]


def load_checkpoint(path: str | Path, wanted: Architecture | None = None) -> NoiseEvaluator:
    """Build the network of a checkpoint and fill it.

    wanted: the architecture of the config; frames and image size may differ where no tensor depends on them (UMT's
    stem), anything else is an error. Raises InputError that names the first missing, unknown or misshapen tensor.
    """
    check_card(path, SHIPPED)
    stored_size, _ = read_header(path)
    size = wanted or stored_size
    tensors = _expand(load(path, FORM)[0], size.vocabulary, path)
    try:
        with torch.device("meta"):
            expected = {name: tensor.shape for name, tensor in NoiseEvaluator(size).state_dict().items()}
    except (ValueError, TypeError, RuntimeError, ArithmeticError, AssertionError) as error:
        raise InputError(f"its header describes no network that can be built: {error}", file=path) from None
    problem = misfit({name: tensor.shape for name, tensor in tensors.items()}, expected)
    if problem:
        raise InputError(
            f"the checkpoint does not fit size {size.size!r} with {size.frames} frames of {size.image_size} pixels:"
            f" {problem}",
            file=path,
        )
    model = NoiseEvaluator(size)
    model.load_state_dict(tensors)
    return model


def _expand(tensors: dict[str, torch.Tensor], vocabulary: int, path: str | Path) -> dict[str, torch.Tensor]:
    """The tensors of a compact checkpoint as the network holds them; those of any other as they are."""
    if WORDS not in tensors or TABLE not in tensors:
        return tensors
    words, rows = tensors.pop(WORDS).long(), tensors[TABLE]
    if words.ndim != 1 or rows.ndim != 2 or len(words) != len(rows):
        raise InputError(f"damaged: {list(words.shape)} words for {list(rows.shape)} embeddings", file=path)
    if len(words) and not 0 <= int(words.min()) <= int(words.max()) < vocabulary:
        raise InputError(f"damaged: a word outside the vocabulary of {vocabulary}", file=path)
    return tensors | {TABLE: rows.new_zeros(vocabulary, rows.shape[1]).index_copy(0, words, rows)}


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
            " checkpoints",
            file=source,
            remedy="is this a checkpoint of another architecture?",
        )
    with torch.device("meta"):
        expected = {name: tensor.shape for name, tensor in NoiseEvaluator(size).state_dict().items()}
    problem = misfit({name: tensor.shape for name, tensor in renamed.items()}, expected)
    if problem:
        raise InputError(
            f"not a complete UMT checkpoint of size {size.size}: {problem}",
            file=source,
            remedy="the retrieval or stage-2 pre-training checkpoint of ViT-L/16 is needed",
        )
    save_checkpoint(target, renamed, size, f"UMT, imported from {source.name}")
    return {"kept": len(renamed), "dropped": len(dropped)}
