"""The configuration: one source, clear errors, generated files in step."""

from pathlib import Path

import pytest
import yaml
from snakemake.utils import validate

from verified.common.errors import InputError
from verified.config import load, read
from verified.config.commands import generated

CONFIG = Path(__file__).resolve().parents[2] / "config"
FILES = sorted(path.name for path in CONFIG.glob("*.yaml"))


def demo(**changes) -> dict:
    return {"datasets": {"demo": {"title": "Demo", "source": {"kind": "demo"}}}, **changes}


@pytest.mark.parametrize("name", FILES)
def test_shipped_files_are_valid(name):
    settings = read(CONFIG / name)
    assert settings.datasets
    validate(yaml.safe_load((CONFIG / name).read_text()), CONFIG / "schema.json", set_default=False)


def test_generated_files_are_in_step():
    for name, text in generated(CONFIG).items():
        assert (CONFIG / name).read_text(encoding="utf-8") == text, f"run `verified config-docs`: config/{name} is old"


@pytest.mark.parametrize(
    ("values", "parts"),
    [
        (demo(sede=3), ["sede", "3", "did you mean 'seed'"]),
        (demo(shards="many"), ["shards", "'many'", "integer"]),
        (
            demo(retrieval={"training": {"xml": {"epoch": 3}}}),
            ["retrieval.training.xml.epoch", "did you mean 'epochs'"],
        ),
        ({"datasets": {"Demo": {"title": "x", "source": {"kind": "demo"}}}}, ["'Demo'", "lower-case"]),
        ({"datasets": {"tables": {"title": "x", "source": {"kind": "demo"}}}}, ["'tables'", "taken"]),
        ({"datasets": {}}, ["datasets"]),
        ({}, ["missing key datasets"]),
        (
            {"datasets": {"d": {"title": "x", "source": {"kind": "demo", "vidoes": 3}}}},
            ["datasets.d.source.vidoes", "3", "did you mean 'videos'"],
        ),
        ({"datasets": {"d": {"title": "x", "source": {"kind": "dmo"}}}}, ["datasets.d.source", "'dmo'", "'demo'"]),
        (
            {"datasets": {"d": {"title": "x", "source": {"kind": "demo"}, "dynamics": {"fps": 8, "frames": 64}}}},
            ["datasets.d.dynamics", "either fps or frames"],
        ),
    ],
)
def test_errors_name_key_value_and_nearest_key(values, parts):
    with pytest.raises(InputError) as caught:
        load(values)
    for part in parts:
        assert part in str(caught.value)


def test_unreadable_files_are_named(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        read(tmp_path / "none.yaml")
    (tmp_path / "broken.yaml").write_text("a: [1")
    with pytest.raises(InputError, match=r"broken\.yaml: not YAML"):
        read(tmp_path / "broken.yaml")
    (tmp_path / "list.yaml").write_text("- 1")
    with pytest.raises(InputError, match="expected a mapping"):
        read(tmp_path / "list.yaml")
