"""Published checkpoints of UniVTG and CG-DETR, as their authors' code writes them."""

import argparse

import pytest
import torch
from refusals import refused

from verified.__main__ import main
from verified.benchmark.vcmr import importing
from verified.benchmark.vcmr.checkpoint import load_model
from verified.benchmark.vcmr.registry import model_class
from verified_rextime.published import import_grounder

GROUNDERS = {
    "univtg": {"hidden": 16, "feed_forward": 24, "layers": 3, "query_tokens": 32},
    "cg_detr": {
        "hidden": 16,
        "feed_forward": 24,
        "encoder_layers": 2,
        "decoder_layers": 3,
        "windows": 4,
        "dummies": 5,
        "prompts": 6,
        "query_tokens": 32,
    },
}


@pytest.fixture
def grounder(tmp_path):
    """Writes a random checkpoint in the form of the authors' training script, and returns its file and tensors."""

    def write(name: str, video_dim: int = 2816, change=lambda state: None):
        torch.manual_seed(3)
        cls = model_class(name)
        model = cls(cls.Config(video_dim=video_dim, text_dim=512, context_clips=75, **GROUNDERS[name]))
        state = {key: torch.randn_like(tensor) for key, tensor in model.state_dict().items()}
        unused = {"txt_position_embed.position_embeddings.weight": torch.zeros(32, 16)}
        unused |= {"txt_proj_linear.net.1.bias": torch.zeros(16)} if name == "cg_detr" else {}
        published = state | unused
        change(published)
        file = tmp_path / f"{name}.ckpt"
        opt = argparse.Namespace(hidden_dim=16, device=torch.device("cuda"), v_feat_dirs=["slowfast", "clip"])
        moments = {0: {"step": torch.tensor(5.0), "exp_avg": torch.zeros(2)}}
        optimizer = {"state": moments, "param_groups": [{"lr": 1e-4, "params": [0]}]}
        torch.save({"model": published, "optimizer": optimizer, "lr_scheduler": {}, "epoch": 7, "opt": opt}, file)
        return file, state

    return write


@pytest.mark.parametrize(("video_dim", "first"), [(2816, 2304), (512, 0)])
@pytest.mark.parametrize("name", GROUNDERS)
def test_a_published_grounding_model_becomes_ours(name, video_dim, first, grounder, tmp_path):
    file, state = grounder(name, video_dim)
    import_grounder(name, file, tmp_path / "c.safetensors", {})
    model, header = load_model(tmp_path / "c.safetensors")
    config = header["config"]
    assert {key: config[key] for key in GROUNDERS[name]} == GROUNDERS[name]
    assert (config["video_dim"], config["text_dim"], config["first_encoder_dim"]) == (video_dim, 512, first)
    assert config.get("clip_centre", 1.0) == 1.0  # of two seconds
    assert state.keys() == model.state_dict().keys()
    assert all(torch.equal(value, state[key]) for key, value in model.state_dict().items())


def drop(key):
    return lambda state: state.pop(key)


def put(key, *shape):
    return lambda state: state.update({key: torch.zeros(shape)})


@pytest.mark.parametrize("name", GROUNDERS)
@pytest.mark.parametrize(
    ("change", "key"),
    [
        (drop("transformer.encoder.layers.1.linear2.bias"), "transformer.encoder.layers.1.linear2.bias"),
        (drop("input_vid_proj.0.LayerNorm.weight"), "input_vid_proj.0.LayerNorm.weight"),
        (put("token_type_embeddings.weight", 2), "token_type_embeddings.weight"),
        (put("class_embed.more.weight", 3), "class_embed.more.weight"),
        (put("input_txt_proj.1.net.1.weight", 16, 9), "input_txt_proj.1.net.1.weight"),
        (put("input_vid_proj.2.net.1.weight", 16, 16), "input_vid_proj.2.net.1.weight"),
    ],
    ids=["missing", "missing size", "flat size", "unknown", "misshapen", "third projection"],
)
def test_a_tensor_that_does_not_fit_a_grounding_model_is_named(name, change, key, grounder, tmp_path, monkeypatch):
    file, _ = grounder(name, 512, change)
    content = torch.load(file, weights_only=False)["model"]  # of the test itself; reading is tested above
    monkeypatch.setattr(importing, "read_tensors", lambda source: content)
    with refused(key, file=file, remedy=True):
        import_grounder(name, file, tmp_path / "c.safetensors", {})
    assert not (tmp_path / "c.safetensors").exists()


def test_the_command_says_which_features_a_grounding_model_reads(grounder, tmp_path, capsys):
    file, _ = grounder("univtg")
    assert main(["import", "univtg", str(file), "--option", "context_clips=100"]) == 0
    printed = capsys.readouterr().out
    assert all(word in printed for word in ("2816", "2304", "512", "2 seconds", "SlowFast", "Nothing here makes them"))
    assert load_model(tmp_path / "univtg.safetensors")[1]["config"]["context_clips"] == 100
