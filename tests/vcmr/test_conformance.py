"""The conformance kit: every registered model keeps the contract, and the kit tells who does not, and why."""

from pathlib import Path

import pytest
from refusals import said

from verified.__main__ import main
from verified.benchmark.lists import Lists
from verified.benchmark.vcmr import search as engine
from verified.benchmark.vcmr.conformance import CHECKS, failures
from verified.benchmark.vcmr.registry import is_two_stage, model_class, model_names, model_of_file
from verified.errors import InputError

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "mean_pooling.py"


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("name", model_names())
def test_model_keeps_the_contract(name, check):
    assert dict(failures(model_class(name), only=(check,)))[check] is None


@pytest.mark.parametrize("name", model_names())
def test_planning_knows_which_models_need_ranked_lists(name):
    assert is_two_stage(name) == model_class(name).two_stage


@pytest.fixture(scope="module")
def example():
    return model_of_file(EXAMPLE)


def test_the_example_of_a_third_party_model_passes(example):
    assert dict(failures(example)) == dict.fromkeys(CHECKS)


@pytest.mark.parametrize("task", ["VR", "VCMR"])
def test_a_search_that_lets_the_true_video_in_is_found_out(task, monkeypatch):
    search = engine.search

    def leaking(model, videos, queries, moments, settings, ranked=None):
        answer = search(model, videos, queries, moments, settings, ranked)
        lists = answer.tasks()[task]
        has_true_video = (lists.video == moments.video[:, None]).any(axis=1)
        setattr(
            answer,
            task.lower(),
            Lists(lists.video, lists.start, lists.end, lists.score + 9.0 * has_true_video[:, None]),
        )
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
    assert main(["check-model", "xml", "--only", "labels"]) == 0
    bad = tmp_path / "bad.py"
    bad.write_text(
        EXAMPLE.read_text().replace('register("mean_pooling")', 'register("bad")').replace("~videos", "videos")
    )
    capsys.readouterr()
    assert main(["check-model", str(bad), "--only", "shapes", "pads"]) == 1
    assert "FAILED  pads: span_logits: pads hold" in capsys.readouterr().out


@pytest.mark.parametrize(("text", "named"), [("x = 1", "model"), ("x = ", "loaded")])
def test_a_file_without_a_model_is_named(text, named, tmp_path, capsys):
    (tmp_path / "odd.py").write_text(text)
    assert main(["check-model", str(tmp_path / "odd.py")]) == 2
    said(capsys.readouterr().err, "odd.py", named)


@pytest.mark.parametrize("content", [b"x = 1\nx.y = 2\n", b"x = 1\nint('a')\n", b"x = 1\nx = '\xff'\n"])
def test_a_file_that_fails_when_it_is_loaded_is_named(content, tmp_path, capsys):
    path = tmp_path / "odd.py"
    path.write_bytes(content)
    assert main(["check-model", str(path)]) == 2
    said(capsys.readouterr().err, "odd.py", *(["row 2"] if b"\xff" not in content else []), remedy=True)


def test_a_file_that_is_no_python_is_named(tmp_path):
    path = tmp_path / "model.txt"
    path.write_text("no model")
    with pytest.raises(InputError) as raised:
        model_of_file(path)
    assert raised.value.file == path and raised.value.remedy
