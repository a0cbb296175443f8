"""The section `rextime` of a configuration: what it refuses, and the models that it asks for."""

import pytest
from refusals import refused

from verified.config import load
from verified.planning.stages import wanted_models


def test_queries_without_tokens_are_refused():
    source = {"form": "captions", "dataset": "demo"}
    values = {
        "datasets": {"demo": {"title": "Demo", "source": {"kind": "demo"}}},
        "generation": {"embed": {"engine": "packaged-joint"}},
        "features": {"text_encoder": "embed"},
        "rextime": {"sources": {"s": source}},
    }
    load(values)
    with refused("rextime.models", "features.text_encoder"):
        load(values | {"rextime": {"sources": {"s": source}, "models": ["retrieval"]}})


@pytest.mark.parametrize(
    ("suite", "needed"),
    [
        ({"sources": {"s": {"form": "captions", "annotations": "a.json"}}}, {"org/llm", "org/eyes"}),
        ({"released": {"q": {"questions": "q.jsonl", "videos": "v"}}, "models": ["video_lmm"]}, {"org/eyes"}),
        *(
            (
                {
                    "released": {"q": {"questions": "q.jsonl", "videos": "v"}},
                    "models": ["video_lmm"],
                    "protocols": [protocol],
                },
                {"org/llm", "org/eyes"},
            )
            for protocol in ("free", "free_after_description")
        ),
        ({}, set()),
    ],
)
def test_the_models_of_questions_are_needed_without_a_data_set(suite, needed):
    generation = {
        "llm": {"engine": "transformers", "model": "org/llm"},
        "image_lmm": {"engine": "transformers", "model": "org/stills"},
        "video_lmm": {"engine": "transformers", "model": "org/eyes"},
    }
    wanted = wanted_models(load({"name": "asked", "rextime": suite, "generation": generation}))
    assert {model.name for model in wanted} == needed
