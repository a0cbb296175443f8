"""The whole chain in miniature: complete, repeatable, restartable, and rebuilt only where something changed."""

from running import digests, ended_well

from verified.io.hdf5 import FeatureFile
from verified.io.jsonl import read_json, read_jsonl
from verified.tables.layout import TABLES

DATASET = "nano"


def test_every_table_is_there_in_every_form(nano):
    names = {path.name for path in (nano / "results" / "tables").iterdir()}
    assert {f"{table.key}.{ending}" for table in TABLES for ending in ("csv", "md", "tex")} <= names
    # Nobody has been asked in a user study: a table without any value gets no page, and the report says so.
    pages = {table.key for table in TABLES if f"{table.key}.html" in names}
    assert {table.key for table in TABLES} - pages == {"main-3", "supp-3"}
    assert {"all.csv", "validity.md", "validity.csv"} <= names
    log = (nano / "run.log").read_text(encoding="utf-8")
    assert "results/nano/tables/main-4.md" in log and "verified report" in log and "Traceback" not in log


def test_snakemake_makes_a_report_of_the_tables_alone(nano):
    ended_well(nano, "--report", "tables.zip", "results/tables")
    assert (nano / "tables.zip").is_file()


def test_metrics_say_which_settings_they_come_from(nano):
    tested = (nano / "results" / DATASET / "retrieval").glob("*/*/seed-*/*/metrics.json")
    settings = {(known["model"], known["settings_sha256"]) for known in map(read_json, tested)}
    assert settings and len(settings) == len({model for model, _ in settings})


def test_each_kind_of_captions_has_its_own_features(nano):
    files = {kind: nano / "results" / DATASET / "features" / f"text-{kind}.h5" for kind in ("cog", "fig", "fig-lowest")}
    lengths = {kind: [FeatureFile(file).length(key) for key in FeatureFile(file)] for kind, file in files.items()}
    assert len(set(map(tuple, lengths.values()))) == 3


def test_a_second_run_has_nothing_to_do(nano):
    before = digests(nano)
    assert "Nothing to be done" in ended_well(nano, "--cores", "2", "results/tables")
    assert digests(nano) == before


def test_counts_reconcile_from_moments_to_annotations(nano):
    base = nano / "results" / DATASET
    moments = {row["desc_id"] for row in read_jsonl(base / "corpus" / "moments.jsonl")}
    counts = read_json(base / "corpus" / "counts.json")
    assert sum(counts["splits"].values()) == counts["moments"] == len(moments)
    for stage in ("captions/statics", "captions/dynamics", "perturbations"):
        seen = [row["desc_id"] for path in sorted((base / stage).glob("shard-??.jsonl")) for row in read_jsonl(path)]
        assert len(seen) == len(set(seen)), stage
        assert set(seen) == moments, stage
    scores = {row["desc_id"] for path in (base / "evaluator" / "scores").glob("*.jsonl") for row in read_jsonl(path)}
    annotated = {row["desc_id"] for path in (base / "annotations" / "fig").glob("*.jsonl") for row in read_jsonl(path)}
    assert annotated == scores <= moments
