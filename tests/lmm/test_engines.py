"""The list of engines: each is there, under the name that the ledger and the configuration give it."""

from importlib import import_module
from pathlib import Path

import pytest
from refusals import refused

from verified.config import load
from verified.config.engines import ENGINES

ENVS = Path(__file__).resolve().parents[2] / "envs"


@pytest.mark.parametrize("name", ENGINES)
def test_each_engine_of_the_list_can_be_made_and_has_that_name(name):
    kind = ENGINES[name]
    module = import_module(kind.module)
    made = module.make.__annotations__["return"]
    classes = [getattr(module, one) for one in made.split(" | ")] if isinstance(made, str) else [made]
    assert {one.name for one in classes} == {name}
    assert kind.environment is None or (ENVS / f"{kind.environment}.yaml").is_file()


@pytest.mark.parametrize(
    ("role", "values", "named"),
    [
        ("llm", {"engine": "unheard-of"}, "'scene-reader', 'cassette'"),
        ("llm", {"engine": "cassette"}, "needs the key `cassette`"),
        ("llm", {"engine": "scene-reader", "structured": True}, "structured must be false"),
        ("llm", {"engine": "packaged-joint"}, "engine"),
        ("video_lmm", {"engine": "vllm", "video_input": "mp4"}, "does not take video_input mp4"),
        ("video_lmm", {"engine": "transformers", "video_input": "mp4"}, "does not take video_input mp4"),
        ("llm", {"engine": "vllm", "batch": True}, "batch"),
        ("llm", {"engine": "openai", "batch": True, "base_url": ["http://a/v1", "http://b/v1"]}, "batch"),
        ("llm", {"engine": "openai", "batch": True, "endpoints_file": "servers.txt"}, "batch"),
        ("llm", {"engine": "openai", "base_url": ["http://a/v1", "http://a/v1"]}, "base_url"),
        ("llm", {"engine": "openai", "base_url": []}, "base_url"),
        ("llm", {"engine": "openai", "base_url": ["http://a/v1", "ftp://b"]}, "base_url"),
        ("llm", {"engine": "openai", "base_url": "http://a/v1", "endpoints_file": "servers.txt"}, "endpoints_file"),
        ("embed", {"sampling": {"temperature": 1}}, "sampling"),
        ("embed", {"shows": "clips"}, "frames"),
        ("embed", {"query_form": "query"}, "query_form"),
        ("embed", {"model": "other"}, "packaged-joint"),
        ("embed", {"engine": "scene-reader"}, "engine"),
    ],
)
def test_a_role_that_its_engine_cannot_play_is_refused(role, values, named):
    with refused(named):
        load({"datasets": {"x": {"title": "X", "source": {"kind": "demo"}}}, "generation": {role: values}})
