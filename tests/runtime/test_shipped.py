"""Weights, encoders, prompts and sources that are not as they were shipped are refused before they are used."""

import base64
import hashlib
import json
import shutil
import subprocess

import pytest
from refusals import refused

from verified.demo.pretrained import SHIPPED
from verified.evaluator import checkpoint
from verified.features import hub_models
from verified.lmm.prompts import read_prompt
from verified.lmm.tasks.perturbations import POSITIVES
from verified.nn.mini_lm import folder as mini_lm_folder
from verified.released.files import SOURCES, read_sources
from verified.runtime import project
from verified.runtime.project import check_installed, commit


@pytest.fixture
def weights(tmp_path, monkeypatch):
    shutil.copytree(SHIPPED, tmp_path / "weights")
    for module in (checkpoint, hub_models):
        monkeypatch.setattr(module, "SHIPPED", tmp_path / "weights")
    return tmp_path / "weights"


def flip(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(content)


def test_a_bit_of_shipped_weights_that_flipped_is_found_before_they_are_used(weights):
    flip(weights / "evaluator.safetensors")
    with refused("evaluator.safetensors", remedy=True):
        checkpoint.load_checkpoint(weights / "evaluator.safetensors")
    flip(weights / "image-backbone" / "model.safetensors")
    with refused("model.safetensors", remedy=True):
        hub_models.ImageModel(str(weights / "image-backbone"))


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"files": 3}', '{"files": {"evaluator.safetensors": 1}}'])
def test_weights_without_a_card_are_refused(weights, content):
    (weights / "card.json").write_text(content)
    with refused("card.json", remedy=True):
        checkpoint.load_checkpoint(weights / "evaluator.safetensors")


def test_weights_of_ones_own_need_no_card(weights, tmp_path):
    shutil.copy(weights / "evaluator.safetensors", tmp_path / "mine.safetensors")
    checkpoint.load_checkpoint(tmp_path / "mine.safetensors")


def install(folder, name, files):
    rows = []
    for file, content in files.items():
        path = folder / name.replace("-", "_") / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
        rows.append(f"{path.relative_to(folder).as_posix()},sha256={digest},{len(content)}")
    notes = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    notes.mkdir()
    (notes / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (notes / "RECORD").write_text("\n".join([*rows, f"{notes.name}/RECORD,,"]) + "\n")
    return folder / name.replace("-", "_")


def test_a_file_of_an_installed_package_that_changed_is_named_with_the_package(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    package = install(tmp_path, "small-encoder", {"model.safetensors": b"weights" * 99, "tokenizer.json": b"{}"})
    check_installed("small-encoder")
    for cached in (project._recorded_digests, project.check_digest):
        cached.cache_clear()
    flip(package / "model.safetensors")
    check_installed("small-encoder", [package / "tokenizer.json", tmp_path / "other"])
    with refused("model.safetensors", "small-encoder", remedy=True):
        check_installed("small-encoder")
    check_installed("a-package-that-nobody-has")


def test_prompts_and_sources_of_an_installed_workflow_are_those_of_its_wheel(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    prompt = (SOURCES.parent / "prompts" / "positives.md").read_bytes()
    files = {"config/sources.csv": SOURCES.read_bytes(), "config/prompts/positives.md": prompt}
    folder = install(tmp_path, "wheel-of-the-workflow", files)
    for module in ("verified.released.files", "verified.lmm.prompts"):
        monkeypatch.setattr(f"{module}.WORKFLOW", "wheel-of-the-workflow")
    read_sources(folder / "config" / "sources.csv")
    read_prompt(folder / "config" / "prompts" / "positives.md", POSITIVES)
    for cached in (read_sources, project.check_digest):
        cached.cache_clear()
    for name in files:
        flip(folder / name)
    with refused("sources.csv", remedy=True):
        read_sources(folder / "config" / "sources.csv")
    with refused("positives.md", remedy=True):
        read_prompt(folder / "config" / "prompts" / "positives.md", POSITIVES)


def test_the_packaged_encoder_has_digests_to_be_held_against():
    recorded = {path.name for path in project._recorded_digests(project.MINI_LM)}
    assert {"model.safetensors", "tokenizer.json"} <= recorded and (mini_lm_folder() / "model.safetensors").is_file()
    assert json.loads((SHIPPED / "card.json").read_text())["files"].keys() >= {"evaluator.safetensors"}


def test_a_file_that_git_does_not_know_is_a_local_change_where_it_is_code(tmp_path):
    def git(*words):
        who = ("-c", "user.name=a", "-c", "user.email=a@b.example")
        subprocess.run(["git", *who, *words], cwd=tmp_path, check=True, capture_output=True)

    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "run.py").write_text("")
    git("init")
    git("add", ".")
    git("commit", "--message", "one")
    (tmp_path / "kitchen.yaml").write_text("")
    assert commit(tmp_path).startswith("commit ") and "with local changes" not in commit(tmp_path)
    (tmp_path / "scripts" / "mine.py").write_text("")
    assert commit(tmp_path).endswith(" with local changes")
