"""Layers of the video encoder and the small image network against those of transformers, byte for byte."""

import torch
from transformers import AutoModel, ResNetConfig, ResNetModel, VideoMAEConfig
from transformers.models.videomae.modeling_videomae import VideoMAELayer

from verified.demo.pretrained.image_backbone import save
from verified.demo.tiny_evaluator.stem import IMAGE_SIZE, STAGES, SmallResNet
from verified.evaluator.settings import architecture
from verified.evaluator.vision import VideoLayer

TINY = architecture("tiny", 4, 112)


def grown(make):
    """What `make` builds from one seed, and the generator's state behind it."""
    torch.manual_seed(5)
    return make(), torch.get_rng_state()


def same_weights(ours, theirs):
    assert torch.equal(ours[1], theirs[1])
    assert list(ours[0].state_dict()) == list(theirs[0].state_dict())
    assert all(torch.equal(a, b) for a, b in zip(ours[0].state_dict().values(), theirs[0].state_dict().values()))


def test_the_video_layer():
    config = VideoMAEConfig(
        hidden_size=TINY.vision_width,
        num_attention_heads=TINY.vision_heads,
        intermediate_size=TINY.vision_feedforward,
        layer_norm_eps=1e-6,
    )
    config._attn_implementation = "sdpa"
    ours, theirs = grown(lambda: VideoLayer(TINY)), grown(lambda: VideoMAELayer(config))
    same_weights(ours, theirs)
    tokens = torch.randn(2, 80, TINY.vision_width, generator=torch.Generator().manual_seed(1))
    middle = tokens + ours[0].attend(tokens)
    found, expected = middle + ours[0].feed_forward(middle), theirs[0](tokens)
    assert torch.equal(found, expected)
    found.square().sum().backward()
    expected.square().sum().backward()
    assert all(torch.equal(a.grad, b.grad) for a, b in zip(ours[0].parameters(), theirs[0].parameters()))


def test_the_small_image_network_and_the_folder_that_transformers_loads(tmp_path):
    config = ResNetConfig(embedding_size=STAGES[0], hidden_sizes=list(STAGES), depths=[1] * 4, layer_type="basic")
    ours, theirs = grown(SmallResNet), grown(lambda: ResNetModel(config))
    same_weights(ours, theirs)
    frames = torch.randn(2, 3, IMAGE_SIZE, IMAGE_SIZE, generator=torch.Generator().manual_seed(1))
    frames = frames.contiguous(memory_format=torch.channels_last)
    for side in (ours[0], theirs[0]):
        side.to(memory_format=torch.channels_last)
    for mode in (True, False):
        found, expected = ours[0].train(mode)(frames), theirs[0].train(mode)(frames).pooler_output.flatten(1)
        assert torch.equal(found, expected)
        found.square().sum().backward()
        expected.square().sum().backward()
    assert all(torch.equal(a.grad, b.grad) for a, b in zip(ours[0].parameters(), theirs[0].parameters()))
    save(ours[0], tmp_path)
    loaded = AutoModel.from_pretrained(tmp_path, dtype=torch.float32)
    assert loaded.config.image_size == IMAGE_SIZE
    assert all(torch.equal(a.half().float(), b) for a, b in zip(ours[0].parameters(), loaded.parameters()))
