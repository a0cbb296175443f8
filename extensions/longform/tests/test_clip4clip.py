"""CLIP4Clip from a checkpoint in the authors' form, against its computation written out from the tensors' names."""

import numpy as np
import pytest
import torch
from refusals import refused
from tiny_models import clip as write_tiny_clip
from torch.nn import functional

from verified.__main__ import main
from verified.features.encoders import load_joint
from verified_longform.clip4clip import clip_pooling, convert, is_clip4clip

WIDTH, DIM, VOCABULARY, PLACES, PATCH, SIDE = 128, 64, 54, 20, 16, 2


def _block(prefix, width, draw):
    return {
        f"{prefix}.attn.in_proj_weight": draw(3 * width, width),
        f"{prefix}.attn.in_proj_bias": draw(3 * width),
        f"{prefix}.attn.out_proj.weight": draw(width, width),
        f"{prefix}.attn.out_proj.bias": draw(width),
        **_norm(f"{prefix}.ln_1", width, draw),
        **_norm(f"{prefix}.ln_2", width, draw),
        f"{prefix}.mlp.c_fc.weight": draw(4 * width, width),
        f"{prefix}.mlp.c_fc.bias": draw(4 * width),
        f"{prefix}.mlp.c_proj.weight": draw(width, 4 * width),
        f"{prefix}.mlp.c_proj.bias": draw(width),
    }


def _norm(prefix, width, draw):
    return {f"{prefix}.weight": 1 + draw(width), f"{prefix}.bias": draw(width)}


@pytest.fixture(scope="module")
def tensors():
    """A CLIP4Clip of random weights: two layers in pictures, one in words."""
    random = torch.Generator().manual_seed(0)

    def draw(*shape):
        return torch.randn(shape, generator=random) * 0.1

    values = {
        "clip.visual.class_embedding": draw(WIDTH),
        "clip.visual.conv1.weight": draw(WIDTH, 3, PATCH, PATCH),
        "clip.visual.positional_embedding": draw(SIDE**2 + 1, WIDTH),
        "clip.visual.proj": draw(WIDTH, DIM),
        **_norm("clip.visual.ln_pre", WIDTH, draw),
        **_norm("clip.visual.ln_post", WIDTH, draw),
        "clip.token_embedding.weight": draw(VOCABULARY, WIDTH),
        "clip.positional_embedding": draw(PLACES, WIDTH),
        "clip.text_projection": draw(WIDTH, DIM),
        **_norm("clip.ln_final", WIDTH, draw),
        "clip.logit_scale": torch.tensor(4.6),
    }
    for layer in range(2):
        values |= _block(f"clip.visual.transformer.resblocks.{layer}", WIDTH, draw)
    return values | _block("clip.transformer.resblocks.0", WIDTH, draw)


def _transform(x, tensors, prefix, layers, mask=None):
    """CLIP's blocks, [places, width]."""
    for layer in range(layers):
        own = {
            name.removeprefix(f"{prefix}.{layer}."): value
            for name, value in tensors.items()
            if name.startswith(f"{prefix}.{layer}.")
        }
        width = x.shape[-1]
        y = functional.layer_norm(x, (width,), own["ln_1.weight"], own["ln_1.bias"])
        q, k, v = (y @ own["attn.in_proj_weight"].T + own["attn.in_proj_bias"]).chunk(3, dim=-1)
        heads = []
        for one in range(width // 64):
            part = slice(64 * one, 64 * one + 64)
            scores = q[:, part] @ k[:, part].T / 8
            heads.append((scores if mask is None else scores + mask).softmax(dim=-1) @ v[:, part])
        x = x + torch.cat(heads, dim=-1) @ own["attn.out_proj.weight"].T + own["attn.out_proj.bias"]
        y = functional.layer_norm(x, (width,), own["ln_2.weight"], own["ln_2.bias"])
        y = y @ own["mlp.c_fc.weight"].T + own["mlp.c_fc.bias"]
        x = x + (y * torch.sigmoid(1.702 * y)) @ own["mlp.c_proj.weight"].T + own["mlp.c_proj.bias"]
    return x


def _picture(pixels, tensors):
    patches = functional.conv2d(pixels[None], tensors["clip.visual.conv1.weight"], stride=PATCH)[0].flatten(1).T
    x = torch.cat([tensors["clip.visual.class_embedding"][None], patches])
    x = x + tensors["clip.visual.positional_embedding"]
    x = functional.layer_norm(x, (WIDTH,), *(tensors[f"clip.visual.ln_pre.{end}"] for end in ("weight", "bias")))
    x = _transform(x, tensors, "clip.visual.transformer.resblocks", 2)[0]
    x = functional.layer_norm(x, (WIDTH,), *(tensors[f"clip.visual.ln_post.{end}"] for end in ("weight", "bias")))
    return x @ tensors["clip.visual.proj"]


def _words(ids, tensors):
    mask = torch.full((len(ids), len(ids)), float("-inf")).triu(1)
    x = tensors["clip.token_embedding.weight"][ids] + tensors["clip.positional_embedding"][: len(ids)]
    x = _transform(x, tensors, "clip.transformer.resblocks", 1, mask)
    x = functional.layer_norm(x, (WIDTH,), *(tensors[f"clip.ln_final.{end}"] for end in ("weight", "bias")))
    return x[ids.argmax()] @ tensors["clip.text_projection"]


@pytest.fixture(scope="module")
def words(tmp_path_factory):
    return write_tiny_clip(tmp_path_factory.mktemp("words"))


@pytest.fixture(scope="module")
def imported(tensors, words, tmp_path_factory):
    folder = tmp_path_factory.mktemp("imported")
    torch.save(tensors, folder / "own.bin")
    options = ["--output", str(folder / "converted"), "--option", f"tokenizer={words}"]
    assert main(["import", "clip4clip", str(folder / "own.bin"), *options]) == 0
    return folder / "converted"


def test_both_encoders_give_what_the_checkpoint_computes(imported, tensors):
    encoder = load_joint(str(imported))
    pixels = np.random.default_rng(0).integers(0, 255, (2, 32, 32, 3), dtype=np.uint8)
    mean = torch.tensor([0.48145466, 0.4578275, 0.40821073]) * 255
    deviation = torch.tensor([0.26862954, 0.26130258, 0.27577711]) * 255
    scaled = ((torch.from_numpy(pixels).float() - mean) / deviation).permute(0, 3, 1, 2)
    expected = torch.stack([_picture(one, tensors) for one in scaled])
    assert np.abs(encoder(pixels) - expected.numpy()).max() < 1e-4
    (tokens, whole), _ = encoder.sentences(["ab a", "abc de"])  # the longer one pads the first
    ids = torch.tensor([52, 0, 27, 26, 53])  # start, a, b</w>, a</w>, end
    assert len(tokens) == len(ids) and np.abs(whole - _words(ids, tensors).numpy()).max() < 1e-4


def test_a_clips_vector_is_the_mean_of_a_frame_a_second(imported):
    assert is_clip4clip(imported) and not is_clip4clip("openai/clip-vit-base-patch32")
    frames = np.random.default_rng(1).normal(size=(40, DIM)).astype(np.float32)
    mean = functional.normalize(torch.from_numpy(frames[::5]), dim=-1).mean(dim=0)
    assert np.abs(clip_pooling(5.0)(frames) - (mean / mean.norm()).numpy()).max() < 1e-5
    vector = clip_pooling(5.0)(np.repeat(frames, 5, axis=0))
    assert vector.shape == (DIM,) and np.linalg.norm(vector) == pytest.approx(1)


def test_a_head_with_weights_is_refused(tensors, words, tmp_path):
    torch.save(tensors | {"transformerClip.resblocks.0.ln_1.weight": torch.ones(DIM)}, tmp_path / "own.bin")
    with refused("head", file="own.bin", remedy=True):
        convert(tmp_path / "own.bin", words, tmp_path / "converted")
