"""The authors' checkpoints (.pth, .ckpt) as ours: sizes are read off the tensors, names are mapped by the model."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_type_hints

from pydantic import TypeAdapter, ValidationError
from torch import Tensor

from verified.benchmark.vcmr.checkpoint import save_model
from verified.benchmark.vcmr.contract import RetrievalModel
from verified.benchmark.vcmr.registry import model_class
from verified.errors import InputError
from verified.io.foreign import read_tensors
from verified.io.jsonl import write_jsonl
from verified.nn.checkpoint import misfit

_XML = {
    "video_dim": ("video_input_proj.LayerNorm.weight", 0),
    "text_dim": ("query_input_proj.LayerNorm.weight", 0),
    "context_clips": ("ctx_pos_embed.position_embeddings.weight", 0),
    "query_tokens": ("query_pos_embed.position_embeddings.weight", 0),
    "hidden": ("video_query_linear.weight", 0),
}
Sizes = dict[str, int | float]


@dataclass(frozen=True)
class Published:
    """Properties of the authors' checkpoints of a model."""

    sizes: dict[str, tuple[str, int]]
    """Position of each size of a config in a state dict, as published or after `from_official`: (key, axis)."""
    kind: str = "without subtitles"
    remedy: str = "XML with subtitles lacks the third video encoder and cannot be converted"
    """Which of them work, and the remedy for others."""
    complete: Callable[[Sizes, dict[str, Tensor]], Sizes] = lambda sizes, tensors: sizes
    """The config's values from the sizes and the other tensors."""


SIZES: dict[str, dict[str, tuple[str, int]]] = {
    "xml": _XML,
    "reloclnet": _XML,
    "conquer": {
        "video_dim": ("encoder.videoEncoder.linear.LayerNorm.weight", 0),
        "text_dim": ("encoder.queryEncoder.linear.LayerNorm.weight", 0),
        "context_clips": ("encoder.videoEncoder.transformer.embeddings.position_embeddings.weight", 0),
        "query_tokens": ("encoder.queryEncoder.transformer.embeddings.position_embeddings.weight", 0),
        "hidden": ("encoder.videoEncoder.linear.net.1.weight", 0),
    },
    "squidnet": {
        "video_dim": ("MMAencoder.vsMMA.img_linear.LayerNorm.weight", 0),
        "text_dim": ("MMAencoder.text_enc.linear.LayerNorm.weight", 0),
        "context_clips": ("MMAencoder.vsMMA.transformer.embeddings.position_embeddings.weight", 0),
        "query_tokens": ("MMAencoder.text_enc.transformer.embeddings.position_embeddings.weight", 0),
        "hidden": ("MMAencoder.vsMMA.img_linear.net.1.weight", 0),
    },
    "hero": {
        "video_dim": ("v_encoder.frame_transform.LayerNorm.weight", 0),
        "context_clips": ("v_encoder.f_encoder.img_embeddings.position_embeddings.weight", 0),
        "vocabulary": ("v_encoder.f_encoder.embeddings.word_embeddings.weight", 0),
        "hidden": ("video_query_linear.weight", 0),
    },
}
"""Tensors that tell the sizes of models whose checkpoints differ in these alone (see `Published.sizes`)."""


def import_checkpoint(
    name: str,
    source: str | Path,
    target: str | Path,
    options: dict | None = None,
    published: Published | None = None,
) -> int:
    """Convert the authors' checkpoint `source` of model `name` and write `target`; returns the number of parameters.

    Widths and lengths come from the tensors; `options` may set the others (heads, alpha, cls_id …). An empty record of
    training is written next to `target`, since there was no training here. Raises InputError if the file cannot be read
    safely, or is not a checkpoint of that model.
    """
    source, target = Path(source), Path(target)
    cls = model_class(name)
    if published is None and name not in SIZES:
        raise InputError(f"no published checkpoint of {name!r} is known", remedy=f"known: {', '.join(SIZES)}")
    published = published or Published(SIZES[name])
    remedy = published.remedy
    choices = _typed(cls, options or {})
    official = read_tensors(source)
    try:
        state = cls.from_official(official)
        values = {"text_dim": 0, **published.complete(_sizes(published, official | state), official | state), **choices}
        model = cls(cls.Config(**values))
        if problem := misfit(state, model.state_dict()):
            raise ValueError(problem)
        model.load_state_dict(state)
    except (KeyError, RuntimeError, TypeError, ValueError, AssertionError) as error:
        detail = " ".join(str(error).split())[:400]
        keys = f"it holds {len(official)} tensors: {', '.join(list(official)[:3])}, …"
        summary = f"not a checkpoint of {name} that works {published.kind}: {detail}; {keys}"
        raise InputError(summary, file=source, remedy=remedy) from None
    parameters = sum(parameter.numel() for parameter in model.parameters())
    facts = {
        "imported_from": source.name,
        "imported_sha256": hashlib.sha256(source.read_bytes()).hexdigest(),
        "parameters": parameters,
        "epochs": None,
        "selected_epoch": None,
        "left_out_queries": None,
    }
    save_model(target, name, model, model.state_dict(), facts)
    write_jsonl(target.with_name("log.jsonl"), [])
    return parameters


def _sizes(published: Published, tensors: dict[str, Tensor]) -> Sizes:
    sizes: Sizes = {}
    for size, (key, axis) in published.sizes.items():
        if key not in tensors:
            raise ValueError(f"tensor {key} is missing")
        if tensors[key].dim() <= axis:
            raise ValueError(f"tensor {key} is {list(tensors[key].shape)}")
        sizes[size] = int(tensors[key].shape[axis])
    return sizes


def _typed(cls: type[RetrievalModel], options: dict[str, Any]) -> dict[str, Any]:
    """Options with the types of the config. Raises InputError for an unknown one, or a value of another type."""
    kinds = get_type_hints(cls.Config)
    typed: dict[str, Any] = {}
    for name, value in options.items():
        if name not in kinds:
            raise InputError(f"no option {name!r}", remedy=f"known: {', '.join(kinds)}")
        try:
            typed[name] = TypeAdapter(kinds[name]).validate_python(value)
        except ValidationError as error:
            raise InputError(f"--option {name}={value}: {error.errors()[0]['msg']}", remedy="correct it") from None
    return typed
