"""Published checkpoints: containers, prefixes and layouts as the authors' code writes them."""

import argparse
import re
import sys
import types
from types import SimpleNamespace

import pytest
import torch
from refusals import refused
from running import PROJECT
from vcmr_golden import Golden

from verified.benchmark.vcmr.checkpoint import load_model
from verified.benchmark.vcmr.importing import import_checkpoint

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


def test_the_page_makes_a_checkpoint_of_the_authors_code(published, tmp_path, monkeypatch):
    import_checkpoint("xml", published("xml"), tmp_path / "checkpoint.safetensors")
    page = (PROJECT / "docs" / "benchmark.md").read_text(encoding="utf-8")
    given = {}
    theirs = SimpleNamespace(
        xml_base_config={"n_heads": 7, "drop": 0.1},
        XML=lambda config: SimpleNamespace(load_state_dict=lambda state: given.update(config=config, state=state)),
    )
    monkeypatch.setitem(sys.modules, "easydict", SimpleNamespace(EasyDict=dict))
    for name in ("baselines", "baselines.crossmodal_moment_localization"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    monkeypatch.setitem(sys.modules, "baselines.crossmodal_moment_localization.model_xml", theirs)
    monkeypatch.chdir(tmp_path)
    exec(re.search(r"```python\n(import json.*?)```", page, re.DOTALL)[1], {})
    import_checkpoint("xml", "model.ckpt", "again.safetensors")
    first, again = (load_model(name)[0] for name in ("checkpoint.safetensors", "again.safetensors"))
    assert first.config == again.config and given["state"].keys() == Golden("xml").weights.keys()
    assert all(torch.equal(value, again.state_dict()[key]) for key, value in first.state_dict().items())
    ours, config = first.config, given["config"]
    sizes = (ours.video_dim, ours.text_dim, ours.context_clips, ours.query_tokens, ours.hidden, ours.heads)
    keys = ("visual_input_size", "query_input_size", "max_ctx_l", "max_desc_l", "hidden_size", "n_heads")
    assert tuple(config[key] for key in keys) == sizes and config["ctx_mode"] == "video"


class Malicious:
    def __reduce__(self):
        return (print, ("this must never run",))


@pytest.mark.parametrize(
    "content",
    [{"model": Malicious()}, {"model": {"a": torch.zeros(1)}, "opt": argparse.Namespace(run=Malicious())}, b"broken"],
    ids=["model", "settings", "bytes"],
)
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


@pytest.mark.parametrize(("value", "form"), [("nan", "plain"), ("inf", "model"), ("-inf", "state_dict")])
def test_a_weight_that_is_not_finite_is_named(tmp_path, value, form):
    content = {key: value.clone() for key, value in Golden(GOLDEN["xml"][0]).weights.items()}
    name = next(iter(content))
    content[name].view(-1)[0] = float(value)
    torch.save(content if form == "plain" else {form: content, "epoch": 3}, tmp_path / "diverged.pth")
    with refused(name, file="diverged.pth", remedy=True):
        import_checkpoint("xml", tmp_path / "diverged.pth", tmp_path / "c.safetensors", {"heads": 4})
