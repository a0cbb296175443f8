"""The models at the paper's sizes: the parameters that the authors count, and their checkpoints' names and shapes."""

import json

import pytest
import torch
from vcmr_golden import FOLDER

from verified.benchmark.vcmr.registry import model_class

SIZES = [
    ("xml", {"context_clips": 48}, 1_868_810, "xml_video_charades_hidden256"),
    ("xml", {"context_clips": 30}, 1_864_202, "xml_video_didemo_hidden256"),
    ("xml", {"context_clips": 240}, 1_917_962, "xml_video_anet_hidden256"),
    ("reloclnet", {"context_clips": 48}, 4_672_394, None),
    ("reloclnet", {"context_clips": 30}, 4_665_482, None),
    ("reloclnet", {"context_clips": 240}, 4_746_122, None),
    ("reloclnet", {"context_clips": 128}, None, "reloclnet_video_sub_hidden384"),
    ("hero", {"context_clips": 100, "vocabulary": 50272}, 110_371_338, "hero_vcmr_vfeat2048"),
    ("conquer", {"context_clips": 100}, 45_208_064, "conquer_visual_general"),
    ("conquer", {"context_clips": 100}, 45_208_064, "conquer_visual_sub_general"),
    ("conquer", {"context_clips": 100, "video_head": True}, 55_351_936, "conquer_visual_exclusive"),
    ("conquer", {"context_clips": 240}, 45_208_064 + 140 * 768, None),
    ("squidnet", {"context_clips": 100}, 48_251_008, "squidnet_moment_video"),
]
"""Model, sizes beside clips of 2048 and tokens of 768 numbers, parameters, state dict in state_dict_shapes.json."""


@pytest.mark.parametrize(("name", "sizes", "count", "layout"), SIZES)
def test_parameters_and_layout_are_the_official_ones(name, sizes, count, layout):
    cls = model_class(name)
    with torch.device("meta"):
        model = cls(cls.Config(video_dim=2048, text_dim=768, **sizes))
    assert count in (None, sum(value.numel() for value in model.parameters()))
    if layout:
        shapes = json.loads((FOLDER / "state_dict_shapes.json").read_text(encoding="utf-8"))[layout]
        official = model.from_official({key: torch.empty(shape, device="meta") for key, shape in shapes.items()})
        ours = {key: value.shape for key, value in model.state_dict().items()}
        assert {key: value.shape for key, value in official.items()} == ours
