"""The authors' checkpoints (.pth) as ours: sizes are read off the tensors, names are mapped by the model."""

import hashlib
from dataclasses import fields
from pathlib import Path
from typing import Any

from verified.benchmark.vcmr.checkpoint import save_model
from verified.benchmark.vcmr.contract import RetrievalModel
from verified.benchmark.vcmr.registry import model_class
from verified.errors import InputError
from verified.io.foreign import read_tensors
from verified.io.jsonl import write_jsonl

_XML = {
    "video_dim": ("video_input_proj.LayerNorm.weight", 0),
    "text_dim": ("query_input_proj.LayerNorm.weight", 0),
    "context_clips": ("ctx_pos_embed.position_embeddings.weight", 0),
    "query_tokens": ("query_pos_embed.position_embeddings.weight", 0),
    "hidden": ("video_query_linear.weight", 0),
}
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
"""Where each size of a config stands in a state dict, after `from_official`: (key, axis)."""


def import_checkpoint(name: str, source: str | Path, target: str | Path, options: dict | None = None) -> int:
    """Convert the authors' checkpoint `source` of model `name` and write `target`; returns the number of parameters.

    Widths and lengths come from the tensors; `options` may set what they do not show (heads, alpha, cls_id …). Beside
    `target` an empty record of training is written, since none was done here. Raises InputError if the file cannot be
    read safely, or is not a checkpoint of that model.
    """
    source, target = Path(source), Path(target)
    cls = model_class(name)
    if name not in SIZES:
        raise InputError(f"no published checkpoint of {name!r} is known", remedy=f"known: {', '.join(SIZES)}")
    official = read_tensors(source)
    try:
        state = cls.from_official(official)
        sizes = {size: int(state[key].shape[axis]) for size, (key, axis) in SIZES[name].items()}
        model = _model(cls, {"text_dim": 0, **sizes, **(options or {})})
        model.load_state_dict(state)
    except (KeyError, RuntimeError, TypeError, ValueError) as error:
        detail = " ".join(str(error).split())[:400]
        raise InputError(
            f"not a checkpoint of {name} that works without subtitles: {detail}",
            file=source,
            remedy="XML with subtitles lacks the third video encoder and cannot be converted",
        ) from None
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


def _model(cls: type[RetrievalModel], values: dict[str, object]) -> RetrievalModel:
    """The model on the CPU; a word of the command line takes the type of the option's default."""
    defaults = {field.name: field.default for field in fields(cls.Config)}
    typed: dict[str, Any] = {
        name: type(defaults[name])(value) if isinstance(value, str) and name in defaults else value
        for name, value in values.items()
    }
    return cls(cls.Config(**typed))
