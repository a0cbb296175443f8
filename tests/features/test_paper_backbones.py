"""The paper's kinds of backbone, ResNet and RoBERTa, small and with random weights, from local folders."""

import numpy as np
import pytest
import tiny_models
import torch
from feature_settings import text_features, video_features
from media import counted, write_video
from transformers import PreTrainedTokenizerFast, ResNetModel, RobertaModel, ViTConfig, ViTModel

from verified.errors import InputError
from verified.features.hub_models import IMAGENET_DEVIATION, IMAGENET_MEAN
from verified.features.text import write_text_features
from verified.features.video import encode_videos, load_backbone, write_video_features
from verified.io.hdf5 import FeatureFile


@pytest.fixture(scope="module")
def resnet(tmp_path_factory):
    return tiny_models.resnet(tmp_path_factory.mktemp("resnet"))


def test_frames_are_scaled_as_the_weights_expect(resnet):
    backbone = load_backbone(str(resnet))
    assert (backbone.size, backbone.dim, backbone.crop) == (224, 32, True)
    frames = np.random.default_rng(0).integers(0, 256, (3, 224, 224, 3), dtype=np.uint8)
    pixels = (frames / 255 - np.array(IMAGENET_MEAN)) / np.array(IMAGENET_DEVIATION)
    model = ResNetModel.from_pretrained(resnet).eval()
    expected = model(torch.tensor(pixels, dtype=torch.float32).permute(0, 3, 1, 2)).pooler_output.flatten(1)
    assert np.allclose(backbone(frames), expected.detach().numpy(), atol=1e-4)


def test_wide_videos_keep_their_proportions_and_their_middle(tmp_path):
    class Watcher:
        size, dim, crop = 32, 1, True
        seen = ()

        def __call__(self, frames):
            self.seen = frames
            return np.zeros((len(frames), 1), np.float32)

    def look(path, height, width):
        watcher = Watcher()
        row = {"video": "v", "path": str(path), "height": height, "width": width}
        assert [video for video, _ in encode_videos([row], watcher, 4.0, 1.0, 8, {})] == ["v"]
        return watcher.seen

    image = np.zeros((64, 192, 3), np.uint8)
    image[:, 64:128] = 200  # the middle third is bright
    wide = look(write_video(tmp_path / "wide.mp4", [image] * 8, 8), 64, 192)
    assert wide.shape == (4, 32, 32, 3) and wide[:, :, 2:-2].min() > 150
    tall = look(write_video(tmp_path / "tall.mp4", [np.rot90(image)] * 8, 8), 192, 64)
    assert tall.shape == (4, 32, 32, 3) and tall[:, 2:-2].min() > 150


def test_video_features_of_a_named_folder(resnet, tmp_path):
    path = write_video(tmp_path / "v.mp4", counted(20), 8)
    videos = [{"video": "v", "path": str(path), "sha256": "", "height": 48, "width": 64}]
    settings = video_features(str(resnet), batch=4)
    assert write_video_features(videos, settings, 1.0, tmp_path / "v.h5") == {"ok": 1}
    file = FeatureFile(tmp_path / "v.h5")
    assert file["v"].shape == (3, 32) and file.attributes["backbone"] == str(resnet)


def test_models_without_pooling_are_averaged(tmp_path):
    config = ViTConfig(hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16, image_size=32)
    ViTModel(config, add_pooling_layer=False).save_pretrained(tmp_path)
    backbone = load_backbone(str(tmp_path))
    assert (backbone.size, backbone.dim) == (32, 16)


def test_a_backbone_that_is_not_there_is_named(tmp_path):
    with pytest.raises(InputError, match="nowhere"):
        load_backbone(str(tmp_path / "nowhere"))


@pytest.fixture(scope="module")
def roberta(tmp_path_factory):
    return tiny_models.roberta(tmp_path_factory.mktemp("roberta"), places=32)


def test_roberta_tokens_without_padding_or_ends(roberta, tmp_path):
    captions = [("1", "a red ball moves to the left"), ("2", "a ball"), ("3", "q" * 200)]
    assert write_text_features(captions, text_features(str(roberta), batch=3), tmp_path / "t.h5") == 3
    file = FeatureFile(tmp_path / "t.h5")
    assert file.dim == 48
    tokenizer = PreTrainedTokenizerFast.from_pretrained(roberta)
    model = RobertaModel.from_pretrained(roberta).eval()
    for name, text in captions[:2]:
        tokens = tokenizer(text, return_tensors="pt")
        expected = model(**tokens).last_hidden_state[0, 1:-1].detach().numpy()
        assert np.allclose(file[name], expected, atol=5e-3)
    assert file.length("3") == 30  # two of the 32 positions are the ends
