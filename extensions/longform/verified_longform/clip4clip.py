"""CLIP4Clip (Table 6): a CLIP that was fine-tuned for text-to-clip retrieval, by its mean pooling.

Luo et al., "CLIP4Clip: An Empirical Study of CLIP for End to End Video Clip Retrieval" (arXiv 2104.08860), for which
the MAD paper states neither the head nor the cutting of clips: the head without weights is implemented. Training is
not: a checkpoint of the authors' code is read (`convert`), and its two encoders become a CLIP model in transformers'
form, which then extracts the stage's features.

Differences from the official code: frames are drawn from the features' rate, one a second and at most twelve, evenly
(there: decoded at one a second); checkpoints with another head are refused.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from torch import Tensor

from verified.errors import InputError
from verified.io.foreign import read_tensors
from verified.io.jsonl import read_json
from verified_longform.config import MAD_ENCODER
from verified_longform.experiment import mean_pooling

LABEL = "CLIP4Clip, mean pooling"
"""Name in tables."""
MARK = "clip4clip"
"""Key of the converted CLIP's config.json."""
FRAMES = 12
"""Maximal frames of a clip, as for LSMDC."""
HEAD_WIDTH = 64
"""Channels of an attention head, throughout CLIP."""


def clip_pooling(fps: float) -> Callable[[np.ndarray], np.ndarray]:
    """A function of a clip's frame features [frames, dim] at `fps`: the clip's vector of unit length [dim]."""

    def pool(frames: np.ndarray) -> np.ndarray:
        seconds = np.arange(0, len(frames), max(1, round(fps)))
        if len(seconds) > FRAMES:
            seconds = seconds[np.linspace(0, len(seconds) - 1, FRAMES).astype(int)]
        return mean_pooling(frames[seconds])

    return pool


def is_clip4clip(encoder: str | Path) -> bool:
    """Whether an encoder is the folder of a converted CLIP4Clip."""
    path = Path(encoder, "config.json")
    return path.is_file() and bool(read_json(path).get(MARK))


def convert(source: str | Path, tokenizer: str | Path, folder: str | Path) -> None:
    """Write a CLIP4Clip checkpoint as a CLIP model of transformers into `folder`.

    tokenizer: a folder or hub name that holds CLIP's. Raises InputError for a file without CLIP's encoders, and for one
    of another head than mean pooling.
    """
    from transformers import AutoTokenizer, CLIPConfig, CLIPModel

    tensors = {name: value.float() for name, value in read_tensors(source).items()}
    if any(name.startswith(("cross.", "lstm_visual.", "transformerClip.")) for name in tensors):
        remedy = "use one trained with --loose_type and --sim_header meanP"
        raise InputError("a CLIP4Clip with a head of its own, which is not read here", file=source, remedy=remedy)
    try:
        model = CLIPModel(CLIPConfig(**_sizes(tensors)))
        missing, _ = model.load_state_dict(_encoders(tensors), strict=False)
    except (KeyError, RuntimeError) as error:
        raise InputError(f"no checkpoint of CLIP4Clip with a ViT: {error}", file=source) from None
    if lost := [name for name in missing if not name.endswith("position_ids")]:
        raise InputError(f"no checkpoint of CLIP4Clip: nothing becomes {lost[0]}", file=source)
    try:
        words = AutoTokenizer.from_pretrained(str(tokenizer))
    except (OSError, ValueError) as error:
        raise InputError(f"no CLIP with a tokenizer: {error}", file=tokenizer) from None
    model.save_pretrained(folder)
    words.save_pretrained(folder)


def _sizes(tensors: Mapping[str, Tensor]) -> dict:
    """Sizes of both encoders in the words of transformers, as their tensors have them."""
    patches = tensors["clip.visual.conv1.weight"]
    words, places = tensors["clip.token_embedding.weight"], tensors["clip.positional_embedding"]
    side = round((len(tensors["clip.visual.positional_embedding"]) - 1) ** 0.5)

    def encoder(width: int, prefix: str) -> dict:
        layers = {name.removeprefix(prefix).split(".")[0] for name in tensors if name.startswith(prefix)}
        sizes = {"hidden_size": width, "intermediate_size": 4 * width, "num_hidden_layers": len(layers)}
        return sizes | {"num_attention_heads": max(1, width // HEAD_WIDTH), "hidden_act": "quick_gelu"}

    vocabulary, width = words.shape
    ends = {"bos_token_id": vocabulary - 2, "eos_token_id": vocabulary - 1, "pad_token_id": vocabulary - 1}
    text = {**encoder(width, "clip.transformer.resblocks."), **ends, "vocab_size": vocabulary}
    vision = encoder(patches.shape[0], "clip.visual.transformer.resblocks.")
    return {
        "text_config": {**text, "max_position_embeddings": len(places)},
        "vision_config": {**vision, "image_size": side * patches.shape[-1], "patch_size": patches.shape[-1]},
        "projection_dim": tensors["clip.text_projection"].shape[1],
        MARK: True,
    }


NAMES = {
    "clip.visual.class_embedding": "vision_model.embeddings.class_embedding",
    "clip.visual.conv1.weight": "vision_model.embeddings.patch_embedding.weight",
    "clip.visual.positional_embedding": "vision_model.embeddings.position_embedding.weight",
    "clip.visual.ln_pre.": "vision_model.pre_layrnorm.",
    "clip.visual.ln_post.": "vision_model.post_layernorm.",
    "clip.token_embedding.weight": "text_model.embeddings.token_embedding.weight",
    "clip.positional_embedding": "text_model.embeddings.position_embedding.weight",
    "clip.ln_final.": "text_model.final_layer_norm.",
    "clip.logit_scale": "logit_scale",
    "clip.visual.transformer.resblocks.": "vision_model.encoder.layers.",
    "clip.transformer.resblocks.": "text_model.encoder.layers.",
}
"""OpenAI's names to those of transformers, whole or by their beginning."""
INSIDE = {
    ".ln_1.": ".layer_norm1.",
    ".ln_2.": ".layer_norm2.",
    ".mlp.c_fc.": ".mlp.fc1.",
    ".mlp.c_proj.": ".mlp.fc2.",
    ".attn.out_proj.": ".self_attn.out_proj.",
}


def _encoders(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """CLIP's weights under the names of transformers."""
    renamed = {
        "visual_projection.weight": tensors["clip.visual.proj"].T.contiguous(),
        "text_projection.weight": tensors["clip.text_projection"].T.contiguous(),
    }
    for name, value in tensors.items():
        old = next((start for start in NAMES if name.startswith(start)), None)
        if old is None:
            continue
        new = NAMES[old] + name.removeprefix(old)
        for theirs, ours in INSIDE.items():
            new = new.replace(theirs, ours)
        if ".attn.in_proj_" in new:
            for part, piece in zip("qkv", value.chunk(3)):
                renamed[new.replace(".attn.in_proj_", f".self_attn.{part}_proj.")] = piece.clone()
        else:
            renamed[new] = value
    return renamed


def import_file(file: Path, output: Path | None, options: dict[str, str]) -> str:
    """Convert CLIP4Clip's `file` into a folder; returns a description of it and its use.

    Raises InputError for an existing folder, or any option but `tokenizer`, a folder with CLIP's.
    """
    target = output or file.with_suffix("")
    tokenizer = options.pop("tokenizer", MAD_ENCODER)
    if options or target.exists():
        problem = f"{target} is there already" if target.exists() else "clip4clip takes one option, its tokenizer"
        raise InputError(problem, remedy="name a new folder with --output, and --option tokenizer=FOLDER")
    convert(file, tokenizer, target)
    return f"{target}: {LABEL}\nuse it with: longform.encoder: {target}"
