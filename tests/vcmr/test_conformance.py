"""The conformance kit: every registered model keeps the contract, and the kit detects broken ones."""

from dataclasses import make_dataclass
from pathlib import Path

import pytest
import torch
from mutants import BROKEN, EXAMPLE, HONEST, RANKER, filtered_pads, logits, reading, without_last_clip

from verified.__main__ import main
from verified.benchmark.lists import Lists
from verified.benchmark.vcmr import search as engine
from verified.benchmark.vcmr.conformance import CHECKS, failures
from verified.benchmark.vcmr.registry import is_two_stage, model_class, model_names, model_of_file
from verified.benchmark.vcmr.scoring import unit


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("name", model_names())
def test_model_keeps_the_contract(name, check):
    assert dict(failures(model_class(name), only=(check,)))[check] is None


@pytest.fixture(scope="module")
def example():
    return model_of_file(EXAMPLE)


@pytest.mark.parametrize("file", [EXAMPLE, RANKER], ids=lambda file: file.stem)
def test_models_in_files_of_their_own_pass(file):
    assert dict(failures(model_of_file(file))) == dict.fromkeys(CHECKS)


FOREIGN = Path(__file__).resolve().parents[3] / "shared" / "strangers" / "moment_detr_foreign.py"


@pytest.mark.skipif(not FOREIGN.is_file(), reason="no model of others is at ../shared/strangers")
def test_moment_detr_in_a_file_of_others_passes_but_for_a_bias_that_its_losses_subtract():
    cls = model_of_file(FOREIGN)
    failed = {name: reason for name, reason in failures(cls) if reason}
    assert list(failed) == ["gradients"] and "reaches net.saliency_proj.bias (untrained" in failed["gradients"]
    declared = type("Declared", (cls,), {"untrained": {"net.saliency_proj.bias": "saliencies are subtracted"}})
    assert dict(failures(declared, ("gradients",))) == {"gradients": None}


@pytest.mark.parametrize("task", ["VR", "VCMR"])
def test_a_search_that_lets_the_true_video_in_is_found_out(task, monkeypatch):
    search = engine.search

    def leaking(model, videos, queries, moments, settings, ranked=None):
        answer = search(model, videos, queries, moments, settings, ranked)
        lists = answer[task]
        has_true_video = (lists.video == moments.video[:, None]).any(axis=1)
        leaked = Lists(lists.video, lists.start, lists.end, lists.score + 9.0 * has_true_video[:, None])
        answer[task] = leaked
        return answer

    monkeypatch.setattr(engine, "search", leaking)
    reason = dict(failures(model_class("xml"), only=("no_leak",)))["no_leak"]
    assert f"{task}: lists change with the true video" in reason


def test_svmr_must_look_into_the_true_video(monkeypatch):
    search = engine.search

    def astray(model, videos, queries, moments, settings, ranked=None):
        other = videos.moments((moments.video + 1) % videos.count)
        return search(model, videos, queries, other, settings, ranked)

    monkeypatch.setattr(engine, "search", astray)
    assert "does not look into the true video" in dict(failures(model_class("xml"), only=("no_leak",)))["no_leak"]


def test_the_command_checks_a_file_and_a_name(tmp_path, capsys):
    assert main(["check-model", str(EXAMPLE), "--only", "shapes", "losses"]) == 0
    assert capsys.readouterr().out.splitlines() == ["passed  shapes", "passed  losses"]
    assert main(["check-model", "--only"]) == 0 and capsys.readouterr().out.splitlines() == list(CHECKS)
    assert main(["check-model", "xml", "--only", "labels"]) == 0
    bad = tmp_path / "bad.py"
    bad.write_text(EXAMPLE.read_text().replace('"mean_pooling"', '"bad"').replace("~videos", "videos"))
    capsys.readouterr()
    assert main(["check-model", str(bad), "--only", "shapes", "pads"]) == 1
    assert "FAILED  pads: span_logits: pads hold" in capsys.readouterr().out
    bad.write_text(EXAMPLE.read_text().replace("mean_pooling", "bad").replace("unit(vector)", "unit(vector, 1, 2, 3)"))
    assert main(["check-model", str(bad), "--only", "shapes", "losses", "labels"]) == 1
    first, second, third = capsys.readouterr().out.splitlines()
    assert "FAILED  shapes: TypeError: " in first
    assert (second, third) == ("FAILED  losses: as shapes", "passed  labels")


def test_what_a_model_declares_must_be_true(example):
    unused = {"start.weight": "not used"}
    assert (
        "start.weight" in dict(failures(type("Wrong", (example,), {"untrained": unused}), ("gradients",)))["gradients"]
    )


def test_a_second_stream_that_is_declared_is_read(example):
    def deaf(video, mask):
        return torch.cat([video[..., :11], torch.zeros_like(video[..., 11:])], dim=2), mask

    for change, reason in ((lambda *given: given, None), (deaf, "second_stream")):
        members = {"second_stream": True, **reading("videos", change)(example)}
        said = dict(failures(type("Two", (example,), members), ("reading",)))["reading"]
        assert said == reason or reason in said


def test_a_model_that_finds_no_spans_has_to_say_so():
    silent = type("Silent", (model_of_file(RANKER),), {"localises": True})
    assert dict(failures(silent, ("shapes",)))["shapes"] == "NotImplementedError: "


def test_a_video_may_be_ranked_by_its_nearest_clip_but_each_must_be_able_to_be_it():
    base = model_of_file(RANKER)

    def encode_queries(self, query, mask):
        mean = base.encode_queries(self, query, mask)["tokens"].sum(dim=1, keepdim=True)
        return {"tokens": unit(mean), "mask": torch.ones_like(mask[:, :1])}

    nearest = type("Nearest", (base,), {"encode_queries": encode_queries})
    assert dict(failures(nearest, ("reading",))) == {"reading": None}

    def blank(video, mask):
        return video * without_last_clip(video, mask)[1].unsqueeze(2), mask

    deaf = type("Deaf", (nearest,), reading("videos", blank)(nearest))
    assert "changes no answer" in dict(failures(deaf, ("reading",)))["reading"]


@pytest.mark.parametrize(
    ("window", "reason"),
    [
        ([0.0, 1.0, 0.2], None),
        ([0.25, 1.5, 0.2], "leaves"),
        ([0.5, 0.25, 0.2], "before"),
        ([0.0, 1.0, -0.1], "less than 0"),
        ([0.0, 1.0], "(3, 2, 2)"),
    ],
)
def test_windows_lie_in_their_video(example, window, reason):
    """The shortest video has one clip."""
    windows = torch.tensor([[[0.0, 0.5, 0.0][: len(window)], window]])
    proposing = logits(lambda spans, _: spans._replace(proposals=windows.expand(len(spans.start), -1, -1)))
    said = dict(failures(type("Proposing", (example,), proposing(example)), ("shapes",)))["shapes"]
    assert said == reason or reason in said


ALL = ("xml", "reloclnet", "hero", "conquer", "squidnet")


TRAINED = ("overfitting", "options")
"""Checks that take seconds, as they train."""


def marked(variant):
    return pytest.param(variant, id=variant.name, marks=[pytest.mark.slow] if variant.check in TRAINED else [])


@pytest.mark.filterwarnings("ignore:std\\(\\)")
@pytest.mark.parametrize("variant", map(marked, BROKEN))
def test_a_broken_model_is_found_out_by_its_check(variant):
    found = dict(failures(variant.cls(), only=(variant.check,)))[variant.check]
    assert found and variant.reason in found


@pytest.mark.slow
@pytest.mark.parametrize("variant", HONEST, ids=lambda variant: variant.name)
def test_an_honest_model_is_not_reported(variant):
    assert dict(failures(variant.cls())) == dict.fromkeys(CHECKS)


@pytest.mark.parametrize("model", ALL)
@pytest.mark.parametrize("side", ["videos", "queries"])
def test_a_mask_that_is_missing_behind_the_filter_of_pads_is_found_out_in_every_model(model, side):
    base = model_class(model)
    forgetful = type("Forgetful", (base,), reading(side, filtered_pads)(base))
    assert dict(failures(forgetful, only=("padding",)))["padding"]


def test_an_option_that_changes_no_number_is_one_that_the_model_names():
    base = model_class("xml")
    config = make_dataclass("Config", [("at_once", int, 64)], bases=(base.Config,), frozen=True, kw_only=True)
    members = {"Config": config, "technical_options": ("at_once",)}
    assert "'at_once'" in dict(failures(type("Told", (base,), {"Config": config}), only=("options",)))["options"]
    assert dict(failures(type("Told", (base,), members), only=("options",))) == {"options": None}


@pytest.mark.parametrize("name", model_names())
def test_planning_and_the_class_agree_on_whether_a_model_has_two_stages(name):
    assert is_two_stage(name) is model_class(name).two_stage
