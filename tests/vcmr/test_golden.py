"""The five models equal the official code on fixed inputs, and published checkpoints become ours."""

import argparse
import re
import sys
import types
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import pytest
import torch
from refusals import refused
from running import PROJECT
from safetensors.torch import save_file
from vcmr_golden import Golden, cross_pairs, pairs_of_slots

from verified.benchmark.vcmr import query_video
from verified.benchmark.vcmr.checkpoint import load_model
from verified.benchmark.vcmr.importing import import_checkpoint
from verified.benchmark.vcmr.models.conquer import Conquer, ConquerConfig
from verified.benchmark.vcmr.models.hero import Hero, HeroConfig
from verified.benchmark.vcmr.models.reloclnet import ReLoCLNet, ReLoCLNetConfig
from verified.benchmark.vcmr.models.squidnet import Squidnet
from verified.benchmark.vcmr.models.xml import XML, XMLConfig
from verified.benchmark.vcmr.query_video import QueryVideoConfig
from verified.benchmark.vcmr.scoring import draw_ranks, negatives_at

NEAR_PADS = 2e-4  # rows of pads go through a fully masked softmax at −10000, where float32 rounds to 1e-3
ONE_STAGE = {"video_dim": 24, "text_dim": 20, "query_tokens": 12, "hidden": 32, "hard_pool": 3}
LARGER = {"video_dim": 20, "query_tokens": 8, "hidden": 24, "heads": 4, "feed_forward": 40}
TWO_STAGE = LARGER | {"text_dim": 18, "context_clips": 12, "score_channels": 8}
HERO = LARGER | {"text_dim": 0, "context_clips": 16, "vocabulary": 50, "positions": 32}
HERO |= {"cross_layers": 2, "temporal_layers": 2}
MODELS = {
    "xml": ("xml", XML(XMLConfig(**ONE_STAGE, context_clips=16))),
    "reloclnet": ("reloclnet", ReLoCLNet(ReLoCLNetConfig(**ONE_STAGE, context_clips=128, heads=8))),
    "hero": ("hero", Hero(HeroConfig(**HERO, rank_weight=8.0, hard_pool=2, span_share=1.0))),
    "conquer": ("conquer_video_general", Conquer(ConquerConfig(**TWO_STAGE))),
    "squidnet": ("squidnet_video", Squidnet(QueryVideoConfig(**TWO_STAGE))),
}


def golden_model(name):
    fixture, model = MODELS[name]
    golden = Golden(fixture)
    batch = golden.batch(query="query_ids", span="targets") if name == "hero" else golden.batch()
    return golden, golden.fill(model), batch


def encoded(model, batch):
    videos = model.encode_videos(batch.video.flatten(0, -3), batch.video_mask.flatten(0, -2))
    return model.encode_queries(batch.query, batch.query_mask), videos


@pytest.mark.parametrize(("name", "tolerance"), [("xml", ()), ("reloclnet", (NEAR_PADS,)), ("hero", ())])
def test_scores_and_logits_of_one_stage(name, tolerance):
    golden, model, batch = golden_model(name)
    queries, videos = encoded(model, batch)
    golden.equal(queries["vector"], "out_query_vec")
    golden.equal(model.video_scores(queries, videos), "out_q2v_scores")
    count, clips = batch.video_mask.shape
    spans = model.span_logits(queries, videos, *cross_pairs(count, count))
    for which, logits in (("st", spans.start), ("ed", spans.end)):
        crossed = logits.view(count, count, clips).transpose(0, 1)
        everywhere = batch.video_mask.expand(count, count, clips)
        golden.equal(crossed, f"out_{which}_logits_cross", everywhere, *tolerance)
        golden.equal(crossed.diagonal().T, f"out_{which}_logits", batch.video_mask, *tolerance)


@pytest.mark.parametrize("clips_at_once", [1, 30, 10_000])
@pytest.mark.parametrize("name", ["conquer", "squidnet"])
def test_logits_of_two_stages_in_chunks_of_any_size(name, clips_at_once, monkeypatch):
    chunked = partial(query_video.localise_in_chunks, clips_at_once=clips_at_once)
    monkeypatch.setattr(query_video, "localise_in_chunks", chunked)
    golden, model, batch = golden_model(name)
    spans = model.span_logits(*encoded(model, batch), *pairs_of_slots(batch))
    golden.equal(spans.start.view(3, 4, 12), "out_begin_logits", batch.video_mask)
    golden.equal(spans.end.view(3, 4, 12), "out_end_logits", batch.video_mask)
    if name == "squidnet":
        golden.equal(spans.score.view(3, 4), "out_video_score")


@pytest.mark.parametrize(("name", "alpha"), [("xml", 20), ("reloclnet", 30), ("hero", 20)])
def test_a_video_weighs_as_the_exponential_of_its_cosine(name, alpha):
    cosines = torch.tensor([[0.25, 0.5]])
    torch.testing.assert_close(MODELS[name][1].video_weights(cosines), torch.exp(alpha * cosines))


NEGATIVES = {"span": "st_ed", "negative_video": "neg_ctx", "negative_query": "neg_q"}
OF_XML = {**NEGATIVES, "total": "overall"}
OF_RELOCLNET = {**OF_XML, "frame": "fcl", "video": "vcl"}
OF_HERO = {**NEGATIVES, "total": "total"}
OF_SQUIDNET = {"moment": "moment_debiasing_loss", "video": "video_prediction_loss", "total": "loss_total"}
LOSSES = [
    ("xml", "loss_rand_loss_", OF_XML, 19, 5),
    ("xml", "loss_hard_loss_", OF_XML, 20, 5),
    ("reloclnet", "loss_rand_loss_", OF_RELOCLNET, 0, 5),
    ("reloclnet", "loss_hard_loss_", OF_RELOCLNET, 20, 5),
    ("hero", "loss_all_", OF_HERO, 1999, 1),
    ("hero", "loss_hard_", OF_HERO, 2000, 1),
    ("conquer", "loss_", {"moment": "moment_ce_loss", "total": "loss_overall"}, 0, 0),
    ("squidnet", "loss_", OF_SQUIDNET, 0, 0),
]
"""Model, beginning of the stored names, stored name of each loss, epoch (of HERO: step), seed of the draws."""


@pytest.mark.parametrize(("name", "prefix", "names", "at", "seed"), LOSSES)
def test_losses(name, prefix, names, at, seed):
    golden, model, batch = golden_model(name)
    when = {"epoch": 0, "step": at} if name == "hero" else {"epoch": at, "step": 0}
    losses = model.losses(batch, **when, generator=torch.Generator().manual_seed(seed))
    golden.equal_losses(losses, {ours: f"{prefix}{theirs}" for ours, theirs in names.items()})


@pytest.mark.parametrize(("kind", "pool"), [("rand", None), ("hard", 3)])
def test_sampled_negatives(kind, pool):
    golden, _, _ = golden_model("xml")
    draws, scores = torch.Generator().manual_seed(5), golden["out_q2v_scores"]
    for side, matrix in (("ctx", scores), ("q", scores.T)):
        ranks = draw_ranks(6, pool, draws)
        assert torch.equal(ranks, golden.arrays[f"loss_{kind}_neg_{side}_rank"])
        assert torch.equal(negatives_at(matrix, ranks), golden.arrays[f"loss_{kind}_neg_{side}_index"])


def test_loss_of_conquer_without_negatives():
    golden, model, batch = golden_model("conquer")
    alone = replace(batch, video=batch.video[:, :1], video_mask=batch.video_mask[:, :1])
    losses = model.losses(alone, epoch=0, step=0, generator=torch.Generator())
    assert losses["total"].item() == pytest.approx(golden.arrays["loss_noshared_moment_ce_loss"].item(), abs=1e-6)


def test_the_exclusive_head_of_conquer_rescores_the_list():
    torch.manual_seed(0)
    model = Conquer(ConquerConfig(**TWO_STAGE, video_head=True)).eval()
    batch = golden_model("conquer")[2]
    batch = replace(batch, query=batch.query.float(), video=batch.video.float())
    losses = model.losses(batch, epoch=0, step=0, generator=torch.Generator())
    assert model.rescores and set(losses) == {"moment", "video", "total"}
    spans = model.span_logits(*encoded(model, batch), *pairs_of_slots(batch))
    expected = 0.05 * torch.nn.functional.cross_entropy(spans.score.view(3, 4), torch.zeros(3, dtype=torch.int64))
    assert losses["video"].item() == pytest.approx(expected.item(), abs=1e-6)
    assert torch.allclose(model.video_weights(spans.score.view(3, 4)).sum(dim=1), torch.ones(3))


def test_hero_computes_the_span_term_in_one_step_of_five():
    torch.manual_seed(0)
    model, batch = Hero(HeroConfig(**HERO)).double(), golden_model("hero")[2]
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        steps = ["span" in model.losses(batch, epoch=0, step=i, generator=generator) for i in range(200)]
    assert 20 <= sum(steps) <= 60


def roberta(folder, model, vocabulary=48, hidden=24):
    """A RoBERTa of four layers in `folder`, with one token type, as the model's transformer would start from."""
    torch.manual_seed(3)
    state = {}
    for key, value in model.v_encoder["f_encoder"].state_dict().items():
        if key.startswith("img_embeddings."):
            continue
        names = [key]
        if key.startswith("encoder.layer."):
            _, _, number, rest = key.split(".", 3)
            names = [f"encoder.layer.{2 * int(number) + odd}.{rest}" for odd in (0, 1)]
        for name in names:
            state[f"roberta.{name}"] = torch.randn_like(value)
    state["roberta.embeddings.word_embeddings.weight"] = torch.randn(vocabulary, hidden)
    state["roberta.embeddings.token_type_embeddings.weight"] = torch.randn(1, hidden)
    save_file(state, folder / "model.safetensors")
    return state


def test_hero_may_start_from_every_second_layer_of_roberta(tmp_path):
    model = Hero(HeroConfig(**HERO, roberta=str(tmp_path)))
    before = model.v_encoder["f_encoder"].embeddings.word_embeddings.weight.detach().clone()
    state = roberta(tmp_path, model)
    model.initial_weights()
    cross = model.v_encoder["f_encoder"]
    for ours, theirs in ((0, 1), (1, 3)):
        expected = state[f"roberta.encoder.layer.{theirs}.output.dense.weight"]
        assert torch.equal(cross.encoder.layer[ours].output.dense.weight, expected)
    words = cross.embeddings.word_embeddings.weight
    assert torch.equal(words[:48], state["roberta.embeddings.word_embeddings.weight"])
    assert torch.equal(words[48:], before[48:])
    assert torch.equal(*cross.embeddings.token_type_embeddings.weight)


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
    with refused(f"not a checkpoint of {name}"):
        import_checkpoint(name, published(name, prefix), target, {**GOLDEN[name][1], "hidden": 48})


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
