"""Published checkpoints: containers, prefixes and layouts as the authors' code writes them."""

import argparse
import sys
import types

import pytest
import torch
from refusals import refused
from vcmr_golden import Golden

from verified.__main__ import main
from verified.benchmark.vcmr import importing
from verified.benchmark.vcmr.checkpoint import load_model
from verified.benchmark.vcmr.importing import SIZES, import_checkpoint
from verified.benchmark.vcmr.registry import model_class, model_names

GOLDEN = {
    "xml": ("xml", {}),
    "reloclnet": ("reloclnet", {"heads": 8}),
    "conquer": ("conquer_video_general", {"heads": 4, "feed_forward": 40, "score_channels": 8}),
    "squidnet": ("squidnet_video", {"heads": 4, "feed_forward": 40, "score_channels": 8}),
}


def easydict(values: dict) -> object:
    """An object of the class that the TVR family wraps its settings in."""

    class EasyDict(dict):
        pass

    EasyDict.__module__, EasyDict.__qualname__ = "easydict", "EasyDict"
    module = types.ModuleType("easydict")
    module.EasyDict = EasyDict
    sys.modules["easydict"] = module
    wrapped = EasyDict(values)
    wrapped.__dict__.update(values)
    return wrapped


@pytest.fixture
def published(tmp_path):
    def write(name: str, prefix: str = "") -> str:
        state = {prefix + key: value for key, value in Golden(GOLDEN[name][0]).weights.items()}
        file = tmp_path / f"{name}.pth"
        torch.save({"model": state, "model_cfg": easydict({"hidden_size": 32}), "epoch": 7}, file)
        sys.modules.pop("easydict", None)
        return str(file)

    yield write
    sys.modules.pop("easydict", None)


@pytest.mark.parametrize(("name", "prefix"), zip(GOLDEN, ["", "module.", "model._orig_mod.", "ema_model."]))
def test_a_published_checkpoint_becomes_ours(name, prefix, published, tmp_path):
    target = tmp_path / "out" / "checkpoint.safetensors"
    count = import_checkpoint(name, published(name, prefix), target, GOLDEN[name][1])
    model, header = load_model(target)
    assert header["parameters"] == count and header["imported_from"] == f"{name}.pth"
    golden = type(model).from_official(Golden(GOLDEN[name][0]).weights)
    assert all(torch.equal(value, golden[key]) for key, value in model.state_dict().items())
    assert (target.parent / "log.jsonl").read_text() == ""


def test_every_model_of_the_paper_can_be_imported():
    assert set(SIZES) >= set(model_names()) & {"xml", "reloclnet", "conquer", "squidnet", "hero"}


def test_the_command_says_what_it_wrote(published, tmp_path, capsys):
    assert (
        main(["import", "xml", published("xml"), "--output", str(tmp_path / "c.safetensors"), "--option", "heads=4"])
        == 0
    )
    assert "c.safetensors: xml with" in capsys.readouterr().out


def test_a_checkpoint_of_another_model_is_named(published, tmp_path):
    with refused("xml.pth", remedy=True):
        import_checkpoint("conquer", published("xml"), tmp_path / "c.safetensors")


class Malicious:
    def __reduce__(self):
        return (print, ("this must never run",))


@pytest.mark.parametrize("content", [{"model": Malicious()}, b"broken"])
def test_a_file_that_is_not_plain_tensors_is_refused_unread(content, tmp_path, capfd):
    file = tmp_path / "bad.pth"
    if isinstance(content, bytes):
        file.write_bytes(content)
    else:
        torch.save(content, file)
    with refused("bad.pth", remedy=True):
        import_checkpoint("xml", file, tmp_path / "c.safetensors")
    assert "this must never run" not in capfd.readouterr().out
    with refused("none.pth"):
        import_checkpoint("xml", tmp_path / "none.pth", tmp_path / "c.safetensors")


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
    import_checkpoint(name, file, tmp_path / "c.safetensors")
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
        import_checkpoint(name, file, tmp_path / "c.safetensors")
    assert not (tmp_path / "c.safetensors").exists()


def test_the_command_says_which_features_a_grounding_model_reads(grounder, tmp_path, capsys):
    file, _ = grounder("univtg")
    assert main(["import", "univtg", str(file), "--option", "context_clips=100"]) == 0
    printed = capsys.readouterr().out
    assert all(word in printed for word in ("2816", "2304", "512", "2 seconds", "SlowFast", "Nothing here makes them"))
    assert load_model(tmp_path / "univtg.safetensors")[1]["config"]["context_clips"] == 100


def test_settings_that_hold_code_are_refused(tmp_path, capfd):
    torch.save({"model": {"a": torch.zeros(1)}, "opt": argparse.Namespace(run=Malicious())}, tmp_path / "bad.ckpt")
    with refused("bad.ckpt", remedy=True):
        import_checkpoint("univtg", tmp_path / "bad.ckpt", tmp_path / "c.safetensors")
    assert "this must never run" not in capfd.readouterr().out


def test_options_are_typed_and_a_missing_one_is_named(published, tmp_path):
    file, target = published("conquer"), tmp_path / "c.safetensors"
    given = {**GOLDEN["conquer"][1], "video_head": "false"}
    import_checkpoint("conquer", file, target, given)
    assert load_model(target)[1]["config"]["video_head"] is False
    with refused("--option video_head=false"):
        import_checkpoint("conquer", file, target, {**given, "video_head": "yes"})
    with refused("video_head", remedy=True):
        import_checkpoint("conquer", file, target, {**given, "video_head": "perhaps"})
    with refused("head", "known", remedy=True):
        import_checkpoint("conquer", file, target, {"head": "4"})


@pytest.mark.parametrize(("value", "form"), [("nan", "plain"), ("inf", "model"), ("-inf", "state_dict")])
def test_a_weight_that_is_not_finite_is_named(tmp_path, value, form):
    content = {key: value.clone() for key, value in Golden(GOLDEN["xml"][0]).weights.items()}
    name = next(iter(content))
    content[name].view(-1)[0] = float(value)
    torch.save(content if form == "plain" else {form: content, "epoch": 3}, tmp_path / "diverged.pth")
    with refused(name, file="diverged.pth", remedy=True):
        import_checkpoint("xml", tmp_path / "diverged.pth", tmp_path / "c.safetensors", {"heads": 4})


def test_an_unknown_form_names_the_keys(tmp_path):
    torch.save({"generator": {"weight": torch.ones(2)}, "epoch": 3}, tmp_path / "other.pth")
    with refused("generator", "epoch", file="other.pth"):
        import_checkpoint("xml", tmp_path / "other.pth", tmp_path / "c.safetensors")
