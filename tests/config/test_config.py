"""The configuration: one source, clear errors, generated files in step."""

import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from refusals import refused
from running import SHIPPED

from verified.config import load, read
from verified.config.base import Section
from verified.config.layers import run_values
from verified.config.model import Config
from verified.config.params import deciding, is_operational
from verified.config.retrieval import Training
from verified.config.trust import any_confidence_warning, confidence_warning

CONFIG = Path(__file__).resolve().parents[2] / "config"
LAYERS = sorted(path.relative_to(CONFIG).as_posix() for path in CONFIG.glob("layers/*.yaml"))


def one(key: str = "d", **changes: object) -> dict:
    """A configuration of one data set."""
    return {"datasets": {key: {"title": "x", "source": {"kind": "demo"}, **changes}}}


def demo(**changes: object) -> dict:
    return {**one("demo", title="Demo"), **changes}


def test_the_readme_lists_the_files_that_are_shipped():
    page = (CONFIG / "README.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"`([\w/-]+\.yaml)`", page)) == sorted(
        [*(path.name for path in CONFIG.glob("*.yaml")), *LAYERS]
    )
    folders = [folder.name for folder in (CONFIG / "prompts").iterdir() if folder.is_dir()]
    assert [folder for folder in folders if f"`{folder}`" not in page] == []


def test_the_page_of_prompts_lists_the_files_and_their_slots():
    page = (CONFIG.parent / "docs" / "prompts.md").read_text(encoding="utf-8")
    listed = {
        name: slots.split() for name, slots in re.findall(r"^\| `([\w.]+)` \|.*\| `(.+)` \|$", page, re.MULTILINE)
    }
    heads = {
        file.name: file.read_text(encoding="utf-8").split("---\n")[1] for file in (CONFIG / "prompts").glob("*.md")
    }
    slots = {name: sorted(yaml.safe_load(head)["slots"]) for name, head in heads.items()}
    assert {name: sorted(found) for name, found in listed.items()} == slots


@pytest.mark.parametrize(
    ("values", "parts"),
    [
        (demo(sede=3), ["sede", "3", "'seed'"]),
        (demo(shards="many"), ["shards", "'many'", "integer"]),
        (demo(retrieval={"training": {"xml": {"epoch": 3}}}), ["retrieval.training.xml.epoch", "'epochs'"]),
        (one("Demo"), ["'Demo'", "lower-case"]),
        (one("d" * 101), ["100 at most"]),
        (demo(name="d" * 101), ["name"]),
        (demo(name="ledger"), ["results/ledger", "another name"]),
        (demo(name="tables"), ["results/tables", "another name"]),
        (one("tables"), ["'tables'", "taken"]),
        (one(title="x\ny"), ["datasets.d.title", "pattern"]),
        (one(title="x" * 301), ["datasets.d.title", "300"]),
        (one(title="a\u202eb"), ["datasets.d.title", "U+202E"]),
        (demo(generation={"llm": {"model": "a\0b"}}), ["generation.llm.model", "U+0000"]),
        (demo(**{"e\x1bf": 3}), ["a key holds the character U+001B"]),
        (demo(generation={"llm": {"model": "a\nb"}}), ["generation.llm.model", "pattern"]),
        ({"datasets": {}}, ["datasets"]),
        ({}, ["datasets"]),
        (one(source={"kind": "demo", "vidoes": 3}), ["datasets.d.source.vidoes", "3", "'videos'"]),
        (
            one(source={"kind": "demo", "annotators": "all"}),
            ["datasets.d.source.annotators", "'all'", "of kind published"],
        ),
        (one(source={"kind": "dmo"}), ["datasets.d.source", "'dmo'", "'demo'"]),
        (one(dynamics={"fps": 8, "frames": 64}), ["datasets.d.dynamics", "fps or frames"]),
        (one(proposals={"val_share": 0.3}), ["datasets.d.proposals"]),
    ],
)
def test_errors_name_key_value_and_nearest_key(values, parts):
    with refused(*parts):
        load(values)


def test_a_later_file_changes_single_keys_of_earlier_ones_and_of_their_layers(tmp_path):
    files = {
        "base.yaml": "seed: 1\nname: base\nretrieval: {models: [xml, hero], resamples: 200}\n",
        "data.yaml": "name: data\ndatasets: {d: {title: D, source: {kind: demo, videos: 20, seconds: 10}}}\n",
        "mid.yaml": "layers: [base.yaml]\nshards: 7\nretrieval: {resamples: 300}\n",
        "whole.yaml": "layers: [mid.yaml, data.yaml]\nseed: 2\n",
        "change.yaml": "datasets: {d: {source: {kind: demo, videos: 30}}}\nretrieval: {models: [xml]}\n",
        "part.yaml": "datasets: {d: {title: D, source: {seconds: 12}}}\n",
        "kind.yaml": "layers: [part.yaml]\ndatasets: {d: {source: {kind: demo}}}\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    settings = read(tmp_path / "whole.yaml", tmp_path / "change.yaml")
    assert (settings.name, settings.seed, settings.layers) == ("data", 2, ())
    assert (settings.retrieval.models, settings.retrieval.resamples, settings.shards) == (("xml",), 300, 7)
    source = settings.datasets["d"].source
    assert (source.videos, source.seconds) == (30, 10)
    assert read(tmp_path / "kind.yaml").datasets["d"].source.seconds == 12
    (tmp_path / "own.yaml").write_text("datasets: {d: {source: {kind: folder, videos: v, moments: m.csv}}}\n")
    assert read(tmp_path / "whole.yaml", tmp_path / "own.yaml").datasets["d"].source.videos == "v"
    (tmp_path / "data.yaml").write_text("layers: [whole.yaml]\n")
    with refused("whole.yaml", remedy=True):
        read(tmp_path / "whole.yaml")
    (tmp_path / "data.yaml").write_text("layers: other.yaml\n")
    with refused("data.yaml", "'other.yaml'"):
        read(tmp_path / "whole.yaml")


def test_the_defaults_are_these(data_regression):
    source = {"kind": "folder", "videos": "v", "moments": "m.csv"}
    given = {"d": {"title": "D", "source": source}, "demo": demo()["datasets"]["demo"]}
    settings = load(
        {"datasets": given, "generation": {"speech": {}, "embed": {}}, "retrieval": {"training": {"xml": {}}}}
    )
    data_regression.check(settings.model_dump(mode="json", include=set(Config.model_fields)))


def test_the_operational_keys_are_these(data_regression):
    """A key on this list re-runs nothing: whoever adds one says why no byte of a result depends on it."""
    keys = {key for file in SHIPPED.values() for key in operational(read(file))}
    data_regression.check(sorted(keys))


def operational(section: Section) -> Iterator[str]:
    """Operational keys of a section of the core and of those below it."""
    for name, field in type(section).model_fields.items():
        value = getattr(section, name)
        if is_operational(field) and type(section).__module__.startswith("verified."):
            yield f"{type(section).__name__}: {name}"
        for below in value.values() if isinstance(value, dict) else [value]:
            if isinstance(below, Section):
                yield from operational(below)


def test_params_are_the_same_in_any_order_of_keys():
    options = {"hidden": 128, "dropout": 0.2}
    given = [Training(options=options), Training(options=dict(reversed(options.items())))]
    assert len({repr(deciding(training)) for training in given}) == 1
    assert "api_slots" not in deciding(load(demo()).generation.llm)
    assert repr(deciding(given[0], ("seeds", "options"))) == repr(deciding(given[1], ("options", "seeds")))


def test_values_of_the_command_line_override_those_of_files(tmp_path):
    (tmp_path / "own.yaml").write_text("name: own\nseed: 4\n")
    workflow = SimpleNamespace(
        modifier=SimpleNamespace(skip_configfile=False),
        overwrite_configfiles=[tmp_path / "own.yaml"],
        config_settings=SimpleNamespace(config={"seed": 9}),
    )
    values, source = run_values(workflow, {}, tmp_path / "default.yaml")
    assert (values, source) == ({"name": "own", "seed": 9}, str(tmp_path / "own.yaml"))


FOLDER = {"kind": "folder", "videos": "videos", "moments": "moments.csv"}
RELEASED = {"kind": "released", "collection": "charades-fig", "splits": ["test"]}


@pytest.mark.parametrize(
    "source, evaluator, warned",
    [
        (FOLDER, {}, True),
        (FOLDER, {"checkpoint": "umt.safetensors"}, False),
        (FOLDER, {"umt_file": "umt.pth"}, False),
        (FOLDER, {"umt_file": "umt.pth", "checkpoint": "pretrained"}, True),
        ({"kind": "demo"}, {}, False),
        (RELEASED, {}, False),
    ],
)
def test_a_corpus_of_ones_own_without_an_imported_checkpoint(source, evaluator, warned):
    settings = load({"datasets": {"d": {"title": "D", "source": source}}, "evaluator": evaluator})
    assert bool(confidence_warning(settings, "d")) == bool(any_confidence_warning(settings)) == warned
    if warned:
        said = confidence_warning(settings, "d")
        assert "Confidences are not to be trusted" in said
        assert "evaluator.checkpoint" in said and "annotations.choose_by" in said
