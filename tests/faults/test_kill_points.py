"""Every command that writes, killed before each of its changes of a file: repeated, it leaves what it would have left.

The index has its own tests in tests/search/test_index_kills.py, jobs of a run in tests/workflow/test_kills.py.
"""

import contextlib
import json
import shutil

import pytest
import yaml
from export.test_export_forms import ABOUT, ROWS, SPLITS
from kill_points import finished_by_repeating
from ledger_rows import put_all, row_of
from loopback_hub import serving
from people.test_review import MOMENTS, SCORES, decision
from running import PROJECT
from small_index import random_videos, write_corpus
from whole_files import board_files, evaluate_files, longform_files, rextime_files, study_files

from verified.__main__ import main
from verified.export.collection import collect
from verified.export.forms import FORMS, write_form
from verified.io.jsonl import write_jsonl
from verified.lmm.ledger import Ledger
from verified.search.update import update

pytestmark = pytest.mark.slow


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
    "board-add": (board_files, "board-add run added/demo --command x"),
    "board-add over earlier ones": (board_files, "board-add run submissions/demo --command x"),
    "board": (board_files, "board submissions --output tables"),
    "compare": (evaluate_files, "compare truth.jsonl submission.json.gz plain.json --output out"),
    "compare movies": (longform_files, "compare mad.json spans.jsonl again=spans.jsonl --output out"),
    "answers to questions": (
        rextime_files,
        "answers answers.json --key key.json --output out --questions questions.jsonl",
    ),
    "compare questions": (rextime_files, "compare questions.jsonl given.jsonl again=given.jsonl --output out"),
    "answers of a study": (
        study_files,
        "answers --key key.json --raters 1 " + " ".join(f"{participant}.json" for participant in range(1, 11)),
    ),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_on_files(name, start, place, record_property):
    prepare, command = COMMANDS[name]
    prepare(start)
    kills = finished_by_repeating(start, place, given(*command.split()))
    record_property("faults", kills)
    assert kills > 3


@pytest.fixture(scope="module")
def ledger(tmp_path_factory):
    """A ledger of twelve calls, two of them failed."""
    path = tmp_path_factory.mktemp("ledger") / "ledger.sqlite"
    with Ledger(path) as written:
        put_all(written, [row_of(number, "ok" if number < 10 else "invalid") for number in range(12)])
    return path.parent


LEDGER = {
    "export": "ledger export --output calls.parquet --ledger ledger.sqlite",
    "export over an earlier one": "ledger export --output earlier.parquet --ledger ledger.sqlite",
    "rescue": "ledger rescue --ledger ledger.sqlite --output new.sqlite",
}


@pytest.mark.parametrize("name", LEDGER)
def test_a_command_on_a_ledger(name, ledger, start, place, record_property):
    shutil.copytree(ledger, start, dirs_exist_ok=True)
    (start / "earlier.parquet").write_bytes(b"earlier")
    # Where a killed rescue had all but ended, its file is there, and whole: the repeat says so, and leaves it.
    ends = (0, 2) if name == "rescue" else (0,)
    kills = finished_by_repeating(start, place, given(*LEDGER[name].split(), ends=ends))
    record_property("faults", kills)
    assert kills


@pytest.mark.parametrize("form", FORMS)
def test_an_export(form, start, place, record_property):
    collection = collect(ROWS, SPLITS, ABOUT)
    kills = finished_by_repeating(start, place, lambda: write_form(form, place / "form", collection, 2))
    record_property("faults", kills)
    assert kills > 3


def test_an_export_of_an_index(start, place, record_property):
    files, settings = write_corpus(start / "corpus", random_videos(4, longest=5))
    update(start / "index", files, settings)
    kills = finished_by_repeating(start, place, given("index", "--index", "index", "--export", "vectors"))
    record_property("faults", kills)
    assert kills > 3


class Script(dict):
    """What Snakemake puts into a script under the name `snakemake`: values by key and by attribute."""

    def __getattr__(self, name):
        if name in self:
            return self[name]
        raise AttributeError(name)

    def __iter__(self):
        return iter([path for value in self.values() for path in (value if isinstance(value, list) else [value])])


def test_an_import_of_reviews(start, place, record_property):
    """Decisions come back through a rule: its script runs as Snakemake runs it, seals and all."""
    write_jsonl(start / "moments.jsonl", MOMENTS)
    write_jsonl(start / "scores.jsonl", SCORES)
    rows = [decision(1, "accept"), decision(2, "reject", reason="wrong"), decision(3, "accept", "bob")]
    write_jsonl(start / "a.jsonl", [{key: row[key] for key in row if key not in ("file", "row")} for row in rows])
    script = PROJECT / "scripts" / "review" / "adjudicate.py"
    code = compile(script.read_text(encoding="utf-8"), str(script), "exec")
    out = "results/kitchen/annotations/review"
    snakemake = Script(
        input=Script(review=["a.jsonl"], moments="moments.jsonl", scores=["scores.jsonl"]),
        output=Script(outcomes=f"{out}/settled.json", tables=f"{out}/tables.json"),
        params=Script(datasets=["kitchen"], lint={}, title="Kitchen"),
        wildcards=Script(dataset="kitchen"),
        log=[],
        rule="adjudicate_review",
        resources=Script(gpu=0),
        threads=1,
    )
    kills = finished_by_repeating(start, place, lambda: exec(code, {"snakemake": snakemake}))
    record_property("faults", kills)
    assert kills > 3 and json.loads((place / out / "settled.json").read_text())["outcomes"]


def test_fetched_models(start, place, monkeypatch, record_property):
    model = {"config.json": b"{}", "model.safetensors": bytes(range(256)) * 400, "README.md": b"x"}
    with serving() as hub, monkeypatch.context() as patch:
        for name, value in {"HF_ENDPOINT": hub.url, "HF_HUB_OFFLINE": "0", "HF_TOKEN": ""}.items():
            patch.setenv(name, value)
        from huggingface_hub import constants

        patch.setattr(constants, "ENDPOINT", hub.url)
        patch.setattr(constants, "HF_HUB_OFFLINE", False)
        patch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", hub.url + "/{repo_id}/resolve/{revision}/{filename}")
        config = yaml.safe_load((PROJECT / "config" / "nano.yaml").read_text(encoding="utf-8"))
        config["generation"] = {"llm": {"engine": "transformers", "model": "org/one"}}
        config["weights"] = {"folder": "models", "lock": "lock.json"}
        (start / "c.yaml").write_text(yaml.safe_dump(config))
        hub.publish("org/one", model)
        kills = finished_by_repeating(start, place, given("fetch", "--configfile", "c.yaml"))
    record_property("faults", kills)
    assert kills > 5
    assert next(place.rglob("model.safetensors")).read_bytes() == model["model.safetensors"]
