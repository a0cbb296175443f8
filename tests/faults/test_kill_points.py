"""Every command that writes, killed before each of its changes of a file: repeated, it leaves the same files."""

import contextlib

import pytest
import torch
import yaml
from export.test_export_forms import ABOUT, ROWS, SPLITS, written
from kill_points import finished_by_repeating
from loopback_hub import serving
from running import PROJECT
from vcmr_golden import Golden
from whole_files import evaluate_files, ledger_files, study_files

from verified.__main__ import main
from verified.benchmark.vcmr import importing
from verified.export.collection import collect
from verified.export.forms import FORMS
from verified.runtime.checksums import write_checksums

pytestmark = pytest.mark.night


@pytest.fixture
def place(tmp_path):
    """The folder in which a change is made, always the same one."""
    return tmp_path / "place"


@pytest.fixture
def start(tmp_path):
    """What is there before the change."""
    folder = tmp_path / "start"
    folder.mkdir()
    return folder


def given(*command: str, ends: tuple[int, ...] = (0, 1)):
    """A command of a user that ends with one of these statuses."""

    def run():
        with contextlib.redirect_stdout(None):
            assert main([*command]) in ends, command

    return run


COMMANDS = {
    "export of a ledger": (ledger_files, "ledger export --output exported.parquet --ledger ledger"),
    "export over an earlier one": (ledger_files, "ledger export --output calls.parquet --ledger ledger"),
    "compare": (evaluate_files, "compare truth.jsonl submission.json.gz plain.json --output out"),
    "answers of a study": (
        study_files,
        "study --key key.json --raters 1 --collect " + " ".join(f"{participant}.json" for participant in range(1, 11)),
    ),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_on_files(name, start, place):
    prepare, command = COMMANDS[name]
    prepare(start)
    assert finished_by_repeating(start, place, given(*command.split())) > 2


@pytest.mark.parametrize("form", FORMS)
def test_an_export(form, start, place):
    collection = collect(ROWS, SPLITS, ABOUT)
    assert finished_by_repeating(start, place, lambda: written(form, place / "form", collection)) > 3


def test_an_imported_checkpoint(start, place, monkeypatch):
    """Over an earlier one, below results/, where it has checksums."""
    torch.save({"model": Golden("xml").weights}, start / "xml.pth")
    tensors = importing.read_tensors(start / "xml.pth")  # by a process of its own, in a folder of its own
    monkeypatch.setattr(importing, "read_tensors", lambda source: tensors)
    earlier = start / "results" / "own" / "checkpoint.safetensors"
    earlier.parent.mkdir(parents=True)
    earlier.write_bytes(b"earlier")
    write_checksums(earlier)
    command = "import xml xml.pth --output results/own/checkpoint.safetensors --option heads=4"
    assert finished_by_repeating(start, place, given(*command.split(), ends=(0,))) > 3


def test_a_first_configuration(start, place):
    (start / "videos").mkdir()
    # Where a killed one had all but ended, its file is there, and whole: the repeat says so, and leaves it.
    command = "init kitchen --no-moments --model some-model --url http://127.0.0.1:8000/v1"
    assert finished_by_repeating(start, place, given(*command.split(), ends=(0, 2))) > 1
    assert (place / "kitchen.yaml").is_file()


def test_fetched_models(start, place):
    model = {"config.json": b"{}", "model.safetensors": bytes(range(256)) * 400, "README.md": b"x"}
    with serving() as hub:
        config = yaml.safe_load((PROJECT / "config" / "nano.yaml").read_text(encoding="utf-8"))
        config["generation"] = {"llm": {"engine": "transformers", "model": "org/one"}}
        config["weights"] = {"folder": "models", "lock": "lock.json"}
        (start / "c.yaml").write_text(yaml.safe_dump(config))
        hub.publish("org/one", model)
        assert finished_by_repeating(start, place, given("fetch", "--configfile", "c.yaml")) > 5
    assert next(place.rglob("model.safetensors")).read_bytes() == model["model.safetensors"]
