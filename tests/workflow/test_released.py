"""A finished annotation set of a user's own, from its files to the tables and pictures."""

import json
import os

import pytest
from given import CONFIG, annotations
from running import digests, ended_well

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("released")
    (folder / "given").mkdir()
    (folder / "given" / "train.jsonl").write_bytes(annotations(0))
    (folder / "given" / "test.jsonl").write_bytes(annotations(10))
    (folder / "config.yaml").write_text(CONFIG)
    parts = ("figures/clusters.svg", "annotations/lint.json", "corpus/moments.jsonl")
    targets = ("results/tables", *(f"results/mine/{part}" for part in parts))
    ended_well(folder, "--cores", "2", *targets, config=folder / "config.yaml")
    return folder


def test_the_annotations_are_the_given_bytes(built):
    for split, first in (("train", 0), ("test", 10)):
        assert (built / "results/mine/annotations/fig" / f"{split}.jsonl").read_bytes() == annotations(first)


def test_statistics_tables_and_pictures_are_there(built):
    language = json.loads((built / "results/mine/statistics/language.json").read_text())
    assert language["fig"]["captions"] == 12 and language["missing_splits"] == ["val"]
    classes = json.loads((built / "results/mine/statistics/many_to_many.json").read_text())
    assert (classes["cog"]["classes"], classes["cog"]["instances"]) == (1, 12)
    assert (classes["fig"]["classes"], classes["fig"]["instances"]) == (6, 12)
    assert "† Mine-FIG: partial: train+test" in (built / "results/tables/main-1.md").read_text()
    for name in ("confidence", "spans", "clusters"):
        for ending in ("svg", "png", "csv"):
            assert (built / f"results/mine/figures/{name}.{ending}").stat().st_size > 50


def test_an_own_corpus_is_not_compared_with_the_paper(built):
    assert not [*built.glob("results/mine/tables/reproduction.*"), *built.glob("results/mine/tables/verdicts.*")]


def test_the_link_shows_the_tables_of_the_configuration_that_ran_last(built):
    other, before = built / "other.yaml", digests(built)
    other.write_text(CONFIG.replace("name: mine", "name: other"))
    runs = [("mine", ["--dry-run"], other), ("other", ["--cores", "2"], other)]
    for shown, words, config in [*runs, ("mine", ["--cores", "1"], built / "config.yaml")]:
        ended_well(built, *words, "results/tables", config=config)
        assert os.readlink(built / "results/tables") == f"{shown}/tables"
    assert {path: digest for path, digest in digests(built).items() if path in before} == before


def test_the_lint_reports_and_lets_released_annotations_pass(built):
    reports = json.loads((built / "results/mine/annotations/lint.json").read_text())
    assert [report["findings"].get("span_past_end", {}).get("rows") for report in reports] == [[4], None]
    assert all(report["rows"] == 6 for report in reports)
