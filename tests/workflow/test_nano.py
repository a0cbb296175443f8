"""The whole chain in miniature: complete, repeatable, restartable, and rebuilt only where something changed."""

import re
import shutil
from pathlib import Path

import pytest
import yaml
from running import NANO, PROJECT, digests, snakemake

from verified.io.jsonl import read_json, read_jsonl
from verified.tables.layout import TABLES

DATASET = "nano"


def planned(folder: Path, *arguments: str, config: Path = NANO) -> set[str]:
    """Rules that a dry run would execute."""
    run = snakemake(folder, "--dry-run", "results/tables", *arguments, config=config)
    assert run.returncode == 0, run.stdout[-4000:]
    return set(re.findall(r"^(?:local)?rule (\w+):", run.stdout, re.MULTILINE)) - {"all"}


def changed_config(folder: Path, change) -> Path:
    """A copy of the nano configuration after `change(values)`."""
    values = yaml.safe_load(NANO.read_text(encoding="utf-8"))
    change(values)
    path = folder / "changed.yaml"
    path.write_text(yaml.safe_dump(values, sort_keys=False), encoding="utf-8")
    return path


def test_every_table_is_there_in_every_form(nano):
    names = {path.name for path in (nano / "results" / "tables").iterdir()}
    assert {f"{table.key}.{ending}" for table in TABLES for ending in ("csv", "md", "tex")} <= names
    # Nobody has been asked in a user study: a table without any value gets no page, and the report says so.
    pages = {table.key for table in TABLES if f"{table.key}.html" in names}
    assert {table.key for table in TABLES} - pages == {"main-3", "supp-3"}
    assert {"all.csv", "validity.md", "validity.csv"} <= names


def test_metrics_say_which_settings_they_come_from(nano):
    tested = (nano / "results" / DATASET / "retrieval").glob("*/*/seed-*/*/metrics.json")
    settings = {(known["model"], known["settings_sha256"]) for known in map(read_json, tested)}
    assert settings and len(settings) == len({model for model, _ in settings})


def test_a_second_run_has_nothing_to_do(nano):
    before = digests(nano)
    run = snakemake(nano, "--cores", "2", "results/tables")
    assert run.returncode == 0
    assert "Nothing to be done" in run.stdout
    assert digests(nano) == before


def test_counts_reconcile_from_moments_to_annotations(nano):
    base = nano / "results" / DATASET
    moments = {row["desc_id"] for row in read_jsonl(base / "corpus" / "moments.jsonl")}
    for stage in ("captions/statics", "captions/dynamics", "perturbations"):
        seen = [row["desc_id"] for path in sorted((base / stage).glob("shard-??.jsonl")) for row in read_jsonl(path)]
        assert len(seen) == len(set(seen)), stage
        assert set(seen) == moments, stage
    scores = {row["desc_id"] for path in (base / "evaluator" / "scores").glob("*.jsonl") for row in read_jsonl(path)}
    annotated = {row["desc_id"] for path in (base / "annotations" / "fig").glob("*.jsonl") for row in read_jsonl(path)}
    assert annotated == scores <= moments


@pytest.mark.parametrize(
    ("change", "rerun", "kept"),
    [
        (
            lambda c: c.setdefault("statistics", {}).update(distance=0.02),
            {"count_many_to_many"},
            {"train_model", "build_corpus"},
        ),
        (
            lambda c: c["datasets"][DATASET]["spans"].update(nms_threshold=0.5),
            {"test_model"},
            {"caption_statics", "finetune_evaluator"},
        ),
        (
            lambda c: c["datasets"][DATASET]["keyframes"].update(segments=2),
            {"extract_keyframes", "caption_statics"},
            {"build_corpus", "caption_dynamics"},
        ),
    ],
    ids=["clustering-distance", "nms-threshold", "segments"],
)
def test_one_changed_number_reruns_what_depends_on_it(nano, tmp_path, change, rerun, kept):
    rules = planned(nano, config=changed_config(tmp_path, change))
    assert rerun <= rules
    assert not kept & rules


def test_one_changed_prompt_reruns_the_stages_below_it(nano, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(nano, copy, copy_function=shutil.copy2, symlinks=True)
    prompts = tmp_path / "prompts"
    shutil.copytree(PROJECT / "config" / "prompts", prompts, copy_function=shutil.copy2, symlinks=True)
    positives = next(path for path in prompts.iterdir() if path.stem == "positives")
    positives.write_text(positives.read_text(encoding="utf-8") + "\nKeep it short.\n", encoding="utf-8")
    config = changed_config(tmp_path, lambda c: c.setdefault("generation", {}).update(prompts=str(prompts)))
    rules = planned(copy, "--rerun-triggers", "mtime", config=config)
    assert "write_perturbations" in rules
    assert not {"build_corpus", "extract_keyframes", "caption_statics", "caption_dynamics"} & rules


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c.update(sede=1), "'seed'"),
        (lambda c: c.update(shards="two"), "shards"),
        (lambda c: c["datasets"].update({"../x": c["datasets"][DATASET]}), "'../x'"),
        (lambda c: c["retrieval"].update(models=["xlm"]), "xlm"),
    ],
    ids=["unknown-key", "wrong-type", "bad-name", "unknown-model"],
)
def test_a_bad_configuration_stops_before_any_job(tmp_path, change, message):
    run = snakemake(tmp_path, "--cores", "1", "results/tables", config=changed_config(tmp_path, change))
    assert run.returncode != 0
    assert message in run.stdout
    assert "Traceback" not in run.stdout
    assert not (tmp_path / "results").exists()
