"""The authors' checkpoints (.pth, .ckpt) as ours: sizes are read off the tensors, names are mapped by the model."""

import hashlib
import re
from dataclasses import fields
from pathlib import Path
from typing import Any, get_type_hints

from pydantic import TypeAdapter, ValidationError
from torch import Tensor

from verified.benchmark.vcmr.checkpoint import save_model
from verified.benchmark.vcmr.contract import RetrievalModel
from verified.benchmark.vcmr.registry import model_class
from verified.config.rextime import CLIP_SECONDS
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
_GROUNDER = {
    "video_dim": ("input_vid_proj.0.LayerNorm.weight", 0),
    "text_dim": ("input_txt_proj.0.LayerNorm.weight", 0),
    "query_tokens": ("txt_position_embed.position_embeddings.weight", 0),
    "hidden": ("token_type_embeddings.weight", 1),
    "feed_forward": ("transformer.encoder.layers.0.linear1.weight", 0),
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
    "univtg": _GROUNDER,
    "cg_detr": {
        **_GROUNDER,
        "windows": ("query_embed.weight", 0),
        "dummies": ("dummy_rep_token", 0),
        "prompts": ("global_rep_token", 0),
    },
}
"""Position of each size of a config in a state dict, as published or after `from_official`: (key, axis)."""
LAYERS = {
    "univtg": {"layers": "transformer.encoder"},
    "cg_detr": {
        "encoder_layers": "transformer.encoder",
        "decoder_layers": "transformer.decoder",
        "cross_layers": "transformer.t2v_encoder",
        "moment_layers": "transformer.mcls_encoder",
        "dummy_layers": "txtproj_encoder",
        "sentence_layers": "scls_encoder",
    },
}
"""The stacks of layers of a grounding model, which are counted."""
TIMES = 2
"""Numbers beside a clip's features that say where in the video it is."""
SLOWFAST, CLIP = 2304, 512
"""Widths of the authors' features: of SlowFast, and of CLIP (ViT-B/32), clips and tokens."""
CONTEXT = 75
"""Clips of QVHighlights' videos; no tensor depends on how many there are."""


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
    kind, remedy = "without subtitles", "XML with subtitles lacks the third video encoder and cannot be converted"
    if name in LAYERS:
        kind, remedy = (
            "as on QVHighlights",
            "one with pre-norm or other projections cannot be converted",
        )
    given = _typed(cls, options or {})
    official = read_tensors(source)
    try:
        state = cls.from_official(official)
        values = {"text_dim": 0, **_sizes(name, official | state), **given}
        model = cls(cls.Config(**values))
        if problem := _misfit(model, state):
            remedy = _missing_option(cls, values, state) or remedy
            raise ValueError(problem)
        model.load_state_dict(state)
    except (KeyError, RuntimeError, TypeError, ValueError, AssertionError) as error:
        detail = " ".join(str(error).split())[:400]
        keys = f"it holds {len(official)} tensors: {', '.join(list(official)[:3])}, …"
        what = f"not a checkpoint of {name} that works {kind}: {detail}; {keys}"
        raise InputError(what, file=source, remedy=remedy) from None
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


def feature_requirements(name: str, config: dict[str, Any]) -> str:
    """Features that a grounding model with this config needs, beside what the workflow makes of videos and texts."""
    first, video = config["first_encoder_dim"], config["video_dim"]
    clips = f"{video} numbers a clip of {CLIP_SECONDS:g} seconds"
    if first:
        clips += f": {first} of one encoder and {video - first} of another (SlowFast, CLIP). Nothing here makes them"
    else:
        clips += ", as features.video_backbone makes them where it names the same encoder"
    return (
        f"{name} reads {clips}.\nOf a text, it reads {config['text_dim']} numbers a token (published weights those of "
        "CLIP's ViT-B/32, first and last token included)."
    )


def _sizes(name: str, tensors: dict[str, Tensor]) -> dict[str, int | float]:
    """Sizes of a config from the tensors and, for a grounding model, from its authors' features."""
    sizes: dict[str, int | float] = {}
    for size, (key, axis) in SIZES[name].items():
        if key not in tensors:
            raise ValueError(f"tensor {key} is missing")
        if tensors[key].dim() <= axis:
            raise ValueError(f"tensor {key} is {list(tensors[key].shape)}")
        sizes[size] = int(tensors[key].shape[axis])
    if name not in LAYERS:
        return sizes
    for size, stack in LAYERS[name].items():
        numbers = (re.match(rf"{re.escape(stack)}\.layers\.(\d+)\.", key) for key in tensors)
        sizes[size] = len({number[1] for number in numbers if number})
    sizes["video_dim"] -= TIMES
    sizes["context_clips"] = CONTEXT
    if sizes["video_dim"] == SLOWFAST + CLIP:
        sizes["first_encoder_dim"] = SLOWFAST
    if name == "univtg":
        sizes["clip_centre"] = CLIP_SECONDS / 2
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


def _misfit(model: RetrievalModel, state: dict[str, Tensor]) -> str | None:
    expected = {key: tensor.shape for key, tensor in model.state_dict().items()}
    return misfit({key: tensor.shape for key, tensor in state.items()}, expected)


def _missing_option(cls: type[RetrievalModel], values: dict[str, Any], state: dict[str, Tensor]) -> str | None:
    """The switch with which the tensors fit, if there is one."""
    for field in fields(cls.Config):
        if isinstance(field.default, bool):
            switched = not values.get(field.name, field.default)
            if _misfit(cls(cls.Config(**{**values, field.name: switched})), state) is None:
                return f"add --option {field.name}={str(switched).lower()}"
    return None
