"""Twins of sentences, and which of two a submission prefers."""

import json
import shutil

import pytest
from running import ended_well
from shown_settings import shown_settings

from verified.__main__ import main
from verified.benchmark.vcmr.submission import read_truth
from verified.config import load
from verified.errors import InputError
from verified.io.jsonl import read_json, read_jsonl, write_json, write_jsonl
from verified.statistics.language import load_tagger
from verified.tables.collect import Collection
from verified_twins.accuracy import measure, preferences
from verified_twins.config import KINDS
from verified_twins.jobs import twin_submissions
from verified_twins.sentences import negate, reverse, twins_of
from verified_twins.table import tables

ROWS = [
    {"desc_id": 1, "video": "a", "time": [0.0, 4.0], "duration": 10.0, "cog_desc": "a person opens the door"},
    {"desc_id": 2, "video": "b", "time": [2.0, 6.0], "duration": 10.0, "cog_desc": "a dog"},
    {"desc_id": 3, "video": "a", "time": [5.0, 9.0], "duration": 10.0, "cog_desc": "a man is running up the stairs"},
]
PERTURBED = [
    {"desc_id": 1, "selected": {"positive": "p", "statics": "a child opens the door", "dynamics": None}},
    {"desc_id": 3, "selected": {"positive": "p", "statics": None, "dynamics": "a man is walking"}},
]


@pytest.fixture(scope="module")
def tagger():
    return load_tagger("en_core_web_sm")


@pytest.mark.parametrize(
    ("sentence", "negated"),
    [
        ("A man is running.", "A man is not running."),
        ("The woman picks up a cup", "The woman does not pick up a cup"),
        ("people dance on a stage", "people do not dance on a stage"),
        ("She walked away", "She did not walk away"),
        ("The dog can swim", "The dog can not swim"),
        ("a man does not move", None),
        ("Nobody is there", None),
        ("a red ball", None),
    ],
)
def test_the_first_finite_verb_is_negated(sentence, negated, tagger):
    assert negate(sentence, tagger) == negated


@pytest.mark.parametrize(
    ("sentence", "reversed_"),
    [
        ("Picks up the cup", "Puts down the cup"),
        ("the ball moves to the left, then up", "the ball moves to the right, then down"),
        ("the door opens before it closes", "the door closes after it opens"),
        ("the shape disappears", "the shape appears"),
        ("a man with an upright posture sits", None),
    ],
)
def test_opposites_change_places_in_one_pass(sentence, reversed_):
    assert reverse(sentence) == reversed_


def test_twins_are_those_that_a_query_has(tagger):
    twins = twins_of(ROWS, PERTURBED, tagger, KINDS)
    assert twins["statics"] == {1: "a child opens the door"} and twins["dynamics"] == {3: "a man is walking"}
    assert set(twins["negated"]) == {1, 3}
    assert twins["reversed"] == {1: "a person closes the door", 3: "a man is running down the stairs"}


def submission(path, vcmr, svmr):
    """Rows by query: VCMR (video, start, end), best first; SVMR (video, start, end, score)."""

    def lists(by_query):
        ranked = [[[*row, 1 - rank / 10][:4] for rank, row in enumerate(rows)] for rows in by_query]
        return [{"desc_id": row["desc_id"], "predictions": rows} for row, rows in zip(ROWS, ranked)]

    write_json(path, {"video2idx": {"a": 0, "b": 1}, "VCMR": lists(vcmr), "SVMR": lists(svmr)})
    return path


@pytest.fixture
def pair(tmp_path):
    """Truth, answers to true sentences, answers to twins, worked out by hand below."""
    truth = tmp_path / "truth.jsonl"
    write_jsonl(truth, ROWS)
    true = submission(
        tmp_path / "true.json",
        [[(1, 0, 1), (0, 0, 4)], [(1, 2, 6)], [(0, 0, 1), (1, 0, 1), (0, 2, 3)]],
        [[(0, 6, 9, 0.95), (0, 0, 4, 0.9), (0, 0, 3, 0.3)], [(1, 2, 5, 0.3)], [(0, 0, 1, 0.8)]],
    )
    twin = submission(
        tmp_path / "twin.json",
        [[(0, 7, 9)], [(0, 0, 2), (0, 2, 3)], [(0, 5, 9)]],
        [[(0, 0, 4, 0.4)], [(1, 2, 4, 0.5)], [(0, 0, 1, 0.9)]],
    )
    return truth, true, twin


def test_the_preferred_twin_scores_and_ranks_higher(pair):
    path, true, twin = pair
    truth = read_truth(path)
    found = preferences(truth, true, twin, [1, 2, 3])
    # 1: .9 over .4. 2: .3 below .5, of a span at 0.5 exactly. 3: no list holds the moment, a tie.
    assert found["SVMR"].tolist() == [1.0, 0.0, 0.5]
    # 1: second below first. 2: first, and none in the other list. 3: first in both.
    assert found["VCMR"].tolist() == [0.0, 1.0, 0.5]
    swapped = preferences(truth, twin, true, [1, 2, 3])
    assert all((found[task] + swapped[task] == 1).all() for task in found)
    same = measure(truth, [(true, true), (twin, twin)], [1, 2, 3])
    assert same["SVMR"]["value"] == same["VCMR"]["value"] == 50
    assert measure(truth, [(true, twin), (twin, true)], [1, 2])["SVMR"]["value"] == 50
    with pytest.raises(InputError, match="no query"):
        measure(truth, [(true, twin)], [])


def test_each_model_has_the_twins_of_its_own_trainings_in_a_row_of_its_own(tmp_path):
    retrieval = {"models": ["xml", "reloclnet"], "seeds": [1], "training": {"reloclnet": {"seeds": [4, 5]}}}
    source = {"title": "Demo", "source": {"kind": "demo"}}
    twins = {"kinds": ["statics", "negated"]}
    settings = load({"name": "m", "datasets": {"d": source}, "retrieval": retrieval, "twins": twins})
    listed = [file.split("/")[-6:-2] for file in twin_submissions(settings, "d")]
    assert listed == [
        ["retrieval", model, "fig", f"seed-{seed}"]
        for model, seeds in (("xml", (1,)), ("reloclnet", (4, 5)))
        for _ in range(2)
        for seed in seeds
    ]
    entry = {"queries": 9, "trainings": 2, "tasks": {"SVMR": {"value": 62.5, "low": None, "high": None}}}
    write_json(tmp_path / "accuracy.json", {"dataset": "d", "models": {"xml": {"negated": entry}}})
    (table,) = tables(shown_settings({"d": "D"}), Collection([], []), [str(tmp_path / "accuracy.json")])
    assert [*table.rows] == [("D", "XML", "negated", 9, 2, 62.5, None)]


def test_the_command_compares_the_queries_that_have_a_twin(pair, tmp_path, capsys):
    twins = tmp_path / "twins.jsonl"
    twins.write_text('{"desc_id": 1}\n{"desc_id": 3}\n')
    words = ["twins", str(pair[0]), str(twins), str(pair[1]), str(pair[2])]
    assert main([*words, "--json"]) in (0, None)
    found = json.loads(capsys.readouterr().out)
    assert (found["queries"], found["tasks"]["SVMR"]["value"], found["tasks"]["VCMR"]["value"]) == (2, 75.0, 25.0)
    assert main(words) in (0, None)
    assert "75.0 %" in capsys.readouterr().out
    twins.write_text('{"desc_id": 9}\n')
    assert main(words) == 2
    assert "desc_id 9" in capsys.readouterr().err


@pytest.mark.slow
def test_trained_models_are_asked_for_the_twins(nano, tmp_path):
    run, layer = tmp_path / "run", tmp_path / "twins.yaml"
    shutil.copytree(nano, run, symlinks=True)
    layer.write_text("retrieval: {models: [xml, conquer]}\ntwins: {kinds: [statics]}\n")
    ended_well(run, str(layer), "--cores", "2", "results/nano/twins/accuracy.json")
    twins, found = (run / "results/nano/twins" / name for name in ("statics/twins.jsonl", "accuracy.json"))
    queries = {name: entry["statics"]["queries"] for name, entry in read_json(found)["models"].items()}
    assert queries == dict.fromkeys(("conquer", "xml"), len(read_jsonl(twins))) and all(queries.values())
