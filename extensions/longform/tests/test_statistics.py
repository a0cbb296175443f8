"""Statistics of grounding data sets: by hand on a few rows, and the published rows of published data sets."""

from collections import Counter

import pytest
from query_rows import query_row
from running import PROJECT
from script_run import script_run

from verified.io.jsonl import read_json, write_json
from verified.statistics.language import load_tagger
from verified_longform.statistics import measure_splits, overlap


@pytest.fixture(scope="module")
def tagger():
    return load_tagger("en_core_web_sm")


def test_a_few_rows_by_hand(tagger):
    rows = [query_row(0, "a", 0, 10), query_row(1, "a", 90, 100), query_row(2, "b", 5, 9.5, "test", 20.0)]
    rows[1]["sentence"] = "she opens a red door."
    measures = measure_splits(rows, tagger)
    whole = measures["all"]
    assert (whole["videos"], whole["queries"], whole["tokens"], whole["vocabulary"]) == (2, 3, 18, 7)
    assert whole["hours"] == pytest.approx(120 / 3600) and whole["minutes"] == 1.0
    assert whole["seconds"] == pytest.approx(24.5 / 3) and whole["coverage"] == pytest.approx((0.1 + 0.1 + 0.225) / 3)
    assert (whole["adjectives"], whole["nouns"], whole["verbs"]) == (1, 1, 1)
    assert whole["histograms"]["start"]["counts"][0] == 1 and whole["histograms"]["end"]["counts"][-1] == 1
    assert whole["histograms"]["seconds"]["counts"][4] == 1 and whole["histograms"]["seconds"]["counts"][10] == 2
    assert measures["splits"]["test"] == {"videos": 1, "queries": 1} and measures["overlap"]["shared_share"] == 1
    assert measures["train"]["queries"] == 2 and measures["val/test"]["queries"] == 1


def test_vocabularies_meet_as_the_appendix_counts():
    found = overlap(Counter(a=3, b=1), Counter(a=1, c=3))
    words = {"shared": 1, "shared_share": 0.5, "unseen": 1, "unseen_tokens_share": 0.75}
    assert found == words | {"train_only": 1, "train_only_tokens_share": 0.25}


def _part(seconds):
    values = [[10.0, 5.0, 1.0]] * 5
    measure = dict.fromkeys(("recall", "low", "high", "intra_class"), values)
    return {
        "seconds": seconds,
        **measure,
        "oracle": {name: [one[0]] for name, one in measure.items()},
        "chance": measure,
        "chance_drawn": {"runs": 2, "recall": values, "error": values},
        "tail": {"videos": 1, "seconds": 3.0, "without_windows": 0, "queries_without_overlap": 1},
    }


@pytest.mark.parametrize("comparable", [False, True])
def test_printed_figures_stand_beside_the_papers_data_and_never_beside_the_demo(tagger, tmp_path, comparable):
    """In the tables that the rule writes; the mixture is the whole of the one data set, and so its own training."""
    rows = [query_row(0, "a", 0, 10), query_row(1, "a", 90, 100, "test")]
    layout = {
        "sets": {"mad": {"title": "MAD", "comparable": comparable, "test_split": "test", "encoder": "by CLIP"}},
        "mixtures": {"mad": {"mad": 1.0}},
        "mixture_test": "mad",
        "short_seconds": 180.0,
        "tail": "drop",
    }
    counts, home = {"rows": 3, "usable": 2, "clipped": 0}, tmp_path / "mad"
    facts = {"title": "MAD", "kind": "movies", "missing": {}, "counts": counts, **measure_splits(rows, tagger)}
    results = [home / name for name in ("baselines.json", "zero-shot/metrics.json", "vlg-net/mad/metrics.json")]
    measured = {"lengths": [_part(180.0), _part(None)], "clip_retrieval": {"1": 1.0, "5": 2.0, "10": 3.0}}
    measured |= {"queries": 3, "movies": 1, "iou_cmp": "gt"}
    given = {home / "statistics.json": facts, home / "counts.json": counts, **dict.fromkeys(results, measured)}
    for path, value in given.items():
        write_json(path, value)
    inputs = {"results": list(map(str, results)), "statistics": [str(home / "statistics.json")]}
    inputs |= {"counts": [str(home / "counts.json")], "collected": [], "collections": []}
    script_run(
        "extensions/longform/scripts/tabulate.py",
        "tabulate_movies",
        inputs | {"published": str(PROJECT / "config" / "published.csv")},
        {"tables": str(tmp_path / "tables.json")},
        {"layout": layout},
        {},
    )()
    tables = {table["key"]: table["rows"] for table in read_json(tmp_path / "tables.json")["tables"]}
    assert {f"mad-{number}" for number in range(1, 8)} <= tables.keys()
    shown = [row for number in range(1, 8) for row in tables[f"mad-{number}"] if "published" in row]
    assert bool(shown) == comparable
    assert ("mad-1-verdicts" in tables) == comparable
    assert [row[1] for row in tables["mad-2"] if row[2] == "this run"][-1] == "VLG-Net"
    if comparable:
        clip = next(row for row in tables["mad-2"] if row[1:3] == ["Zero-shot", "published"])
        assert clip[3:8] == [6.57, 15.05, 20.26, 37.92, 47.73]
        assert tables["mad-7"][1][:4] == ["MAD", "train", "published", "891.8"]
