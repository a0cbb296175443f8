"""The section `longform` of a configuration: what it refuses, and the encoder that it leaves open."""

import pytest
from refusals import refused

from verified.config import load
from verified_longform.config import Longform
from verified_longform.jobs import encoder_note


def demo(**changes) -> dict:
    return {"datasets": {"demo": {"title": "Demo", "source": {"kind": "demo"}}}, **changes}


def test_guided_needs_vlg_net():
    with refused("longform", "guided", "vlg-net"):
        load(demo(longform={"models": ["zero-shot", "guided"]}))


MOVIES = {"kind": "described", "manifest": "movies.csv", "videos": "movies"}
MAD = {"kind": "mad", "annotations": {"test": "test.json"}, "videos": "movies"}


@pytest.mark.parametrize(
    ("sources", "named", "encoder"),
    [
        ([MOVIES], {}, "packaged-joint"),
        ([MOVIES], {"encoder": "evaluator"}, "evaluator"),
        ([MAD], {}, "openai/clip-vit-base-patch32"),
        ([MAD, MOVIES], {}, "openai/clip-vit-base-patch32"),
        ([{"kind": "demo"}], {}, "openai/clip-vit-base-patch32"),
        ([{"kind": "dataset", "dataset": "demo"}], {}, "openai/clip-vit-base-patch32"),
        ([{"kind": "dataset", "dataset": "own"}], {}, "packaged-joint"),
    ],
)
def test_movies_of_ones_own_are_seen_by_what_is_installed_unless_another_is_named(sources, named, encoder):
    own = {"title": "Own", "source": {"kind": "folder", "videos": "videos", "moments": "moments.csv"}}
    datasets = {f"set-{n}": {"title": "Movies", "source": source} for n, source in enumerate(sources)}
    values = demo(longform={"datasets": datasets, **named})
    values["datasets"]["own"] = own
    settings = load(values)
    assert settings.section(Longform).encoder == encoder
    note = encoder_note(settings, settings.section(Longform).datasets["set-0"])
    assert ("1,000 classes" in note) == (encoder == "packaged-joint")
    assert "the-vectors" not in note
    embed = {"engine": "openai", "model": "the-vectors", "base_url": "http://127.0.0.1:9/v1"}
    values["longform"]["models"] = ["dense"]
    dense = load(values | {"generation": {"embed": embed}})
    with_vectors = encoder_note(dense, dense.section(Longform).datasets["set-0"])
    assert with_vectors.startswith(note) and "the-vectors" in with_vectors
