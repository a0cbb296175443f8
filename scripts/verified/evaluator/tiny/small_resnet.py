"""The small image network of the demo, in the place of ResNet-152: 0.9 million weights, 192 pooled numbers a frame."""

from transformers import ResNetConfig, ResNetModel

SIZE = 112
"""Pixels, the demo's own size: its smallest thing is 14 pixels wide, and half of that hides its shape."""
STAGES = (32, 64, 128, 192)
"""Channels of the four stages; the last number is the width of the pooled features."""


def small_resnet() -> ResNetModel:
    """One basic block a stage, as transformers builds and loads it."""
    config = ResNetConfig(embedding_size=STAGES[0], hidden_sizes=list(STAGES), depths=[1] * 4, layer_type="basic")
    config.image_size = SIZE
    return ResNetModel(config)
