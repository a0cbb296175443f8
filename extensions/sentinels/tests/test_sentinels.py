"""Captions of sentinels by scripted models, each with one fault, and a run that stops at its limit."""

import random
import shutil

import pytest
import yaml
from running import NANO, digests, snakemake
from shown_settings import shown_settings

from verified.config import load
from verified.demo.full_captions import describe, word
from verified.demo.scenes import facts, make_scenes
from verified.demo.shapes import COLOURS, SHAPES
from verified.errors import InputError
from verified.io.jsonl import write_json
from verified.tables.collect import Collection
from verified_sentinels.config import parts, shards_before
from verified_sentinels.facts import check_limit, false_share, judge, measure, statements
from verified_sentinels.table import tables

PARTS = 5
TARGET = "results/nano/sentinels/measures.json"


def corpus_truth(seed: int, number: int = 24) -> dict[int, dict]:
    videos = (make_scenes(seed, f"video {each}", 12, 8) for each in range(number))
    return dict(enumerate((facts(event, 8) for video in videos for event in video.events), start=1))


def caption(truth: dict, rng: random.Random, wrong: tuple[str, ...] = ()) -> str:
    """A full caption; one fact of those that are `wrong` is."""
    name = rng.choice(wrong) if wrong else ""
    values = [value for value in {"colour": COLOURS, "shape": SHAPES}.get(name, ()) if value != truth[name]]
    return word(describe(truth | ({name: rng.choice(values)} if name else {}), rng), rng.randrange(1000))


def answers(truth: dict[int, dict], write, candidates: int = 2) -> list[dict]:
    """Rows of captions; `write` takes desc_id, its place among the moments, and a generator."""
    rng = random.Random(1)
    return [
        {
            "desc_id": key,
            "type": "statics",
            "part": f"part-{place % PARTS:02d}",
            "candidates": [{"caption": write(key, place, rng)} for _ in range(candidates)],
        }
        for place, key in enumerate(truth)
    ]


def checks(truth, write) -> dict[str, dict]:
    judged = judge(answers(truth, write), truth)
    return {row["check"]: row for row in measure(judged, judged[::4], None, 0)}


@pytest.fixture(scope="module")
def truth() -> dict[int, dict]:
    return dict(list(corpus_truth(3).items())[:24])


FACTS = {
    "shape": "ball",
    "colour": "red",
    "count": 1,
    "motion": "moves",
    "direction": "left",
    "texture": "plain",
    "scenes": [{"background": name, "pan": None, "bystander": None} for name in ("sand", "water")],
}


BRICKS = {"scenes": [{"background": "bricks", "pan": None, "bystander": None}]}


@pytest.mark.parametrize(
    "text, changed, false",
    [
        ("A red ball moves to the left on a sandy floor", {}, set()),
        ("Two blue balls move to the right", {}, {"count", "colour", "direction"}),
        ("A red star moves over sand", {}, {"shape"}),
        ("A red ball moves on sand, then over water", {}, set()),
        ("A red ball moves on water, then over sand", {}, {"order"}),
        ("A red ball moves on grass, then over sand", {}, {"background"}),
        ("A red ball moves in front of a wall of bricks", {}, {"background"}),
        ("A red ball moves in front of a wall of bricks", BRICKS, set()),
        ("Something happens", {}, set()),
        *[("A red ball moves", {"motion": motion}, set()) for motion in ("meets", "bounces", "circles")],
        *[("A red ball moves", {"motion": motion}, {"motion"}) for motion in ("grows", "stays")],
    ],
)
def test_false_statements_of_a_caption(text, changed, false):
    assert {name for name, is_true in statements(text, FACTS | changed).items() if not is_true} == false


def test_a_right_model_has_no_fault(truth):
    found = checks(truth, lambda key, place, rng: caption(truth[key], rng))
    assert found["false statements"]["value"] < 0.01 and found["captions of another moment"]["value"] == 0
    assert found["captions that another moment has as well"]["value"] == 0
    assert found["false statements: end minus start of the run"]["value"] == 0


def test_false_colours_are_found_under_colours(truth):
    found = checks(truth, lambda key, place, rng: caption(truth[key], rng, ("colour",)))
    assert found["false statements: colours"]["value"] > 0.9
    assert found["captions with a false statement"]["value"] > 0.9
    assert found["false statements: actions and speeds"]["value"] < 0.02
    assert found["captions of another moment"]["value"] < 0.05


def test_swapped_captions_are_another_moments(truth):
    keys = list(truth)
    found = checks(truth, lambda key, place, rng: caption(truth[keys[place - 1] if place % 2 else key], rng))
    assert 0.3 < found["captions of another moment"]["value"] <= 0.5
    assert found["captions that another moment has as well"]["value"] == 0


def test_two_false_facts_and_three_true_ones_are_enough_for_another_moment():
    truth = {1: FACTS, 2: FACTS | {"colour": "blue", "shape": "star"}}
    told = [{"caption": text} for text in ("Blue stars move", "Red stars move")]
    rows = judge([{"desc_id": 1, "type": "statics", "part": "part-00", "candidates": told}], truth)
    assert [(sorted(row["statements"]), row["another"]) for row in rows] == [
        (["colour", "motion", "shape"], True),
        (["colour", "motion", "shape"], False),
    ]


def test_shares_are_percent_in_the_table_and_numbers_are_not(tmp_path):
    rows = [{"check": "a", "value": 0.25, "low": None, "share": True}, {"check": "b", "value": 3, "share": False}]
    checked = {"dataset": "d", "checks": [{"high": None, "units": 8, "unit": "captions", **row} for row in rows]}
    write_json(tmp_path / "measures.json", checked)
    (table,) = tables(shown_settings({"d": "D"}), Collection([], []), [str(tmp_path / "measures.json")])
    assert [*table.rows] == [("D", "a", 25.0, "8 captions"), ("D", "b", 3, "8 captions")]


def test_one_answer_for_all_is_repeated(truth):
    one = caption(truth[1], random.Random(0))
    found = checks(truth, lambda key, place, rng: one if place % 2 else caption(truth[key], rng))
    assert found["captions that another moment has as well"]["value"] == 0.5


def test_a_model_that_gets_worse_drifts(truth):
    kinds = ("colour", "shape")
    found = checks(truth, lambda key, place, rng: caption(truth[key], rng, kinds if place % PARTS > 1 else ()))
    drift = found["false statements: end minus start of the run"]
    assert drift["low"] > 0 and found["false statements: part 1 of 5"]["value"] < 0.01
    found = checks(truth, lambda key, place, rng: caption(truth[key], rng, kinds if place % PARTS == 2 else ()))
    assert found[drift["check"]]["value"] == 0 < found["false statements: part 3 of 5"]["value"], (
        "neither end nor start"
    )


def test_captions_of_other_words_are_counted_as_unread(truth):
    found = checks(truth, lambda key, place, rng: "Etwas bewegt sich")
    assert found["captions without a statement that can be read"]["value"] == 1
    for check in ("false statements", "captions with a false statement", "chosen captions with a false statement"):
        assert found[check]["value"] is None and found[check]["units"] == 0


def test_a_limit_stops_what_is_false_or_cannot_be_read_and_says_how_to_ask_again(truth):
    def judged(write):
        return judge(answers(truth, write), truth)

    check_limit(judged(lambda key, place, rng: caption(truth[key], rng)), 0.2)
    with pytest.raises(
        InputError, match=r"no statement in the 48 captions .* as 'Etwas bewegt sich'; .* is 0.2"
    ) as bad:
        check_limit(judged(lambda key, place, rng: "Etwas bewegt sich"), 0.2)
    assert "another `revision`" in str(bad.value)
    with pytest.raises(InputError, match=r"of the statements in captions of rendered moments are false"):
        check_limit(judged(lambda key, place, rng: caption(truth[key], rng, ("colour",))), 0.1)


def test_a_limit_is_passed_by_the_whole_interval():
    judged = [
        {"desc_id": n, "caption": "a ball", "statements": {"colour": n % 3 > 0, "motion": True}} for n in range(300)
    ]
    check_limit(judged[:3], 0.1)  # one of six is above it, by chance
    with pytest.raises(InputError, match="17 %"):
        check_limit(judged, 0.1)


@pytest.mark.parametrize("rate", [0.1, 0.3])
def test_intervals_cover_the_true_share(rate):
    """In 200 corpora with captions that are false in a colour at this rate."""
    intervals = []
    for seed in range(200):
        truth, rng = dict(list(corpus_truth(seed, 8).items())[:24]), random.Random(seed)

        def write(key, place, _, truth=truth, rng=rng):
            return caption(truth[key], rng, ("colour",) if rng.random() < rate else ())

        intervals.append(false_share(judge(answers(truth, write), truth)))
    expected = sum(found.value for found in intervals) / len(intervals)
    assert sum(found.low <= expected <= found.high for found in intervals) >= 180


def test_parts_are_spread_over_the_shards():
    nano = yaml.safe_load(NANO.read_text(encoding="utf-8"))
    for shards, before in ((9, [0, 4, 9]), (3, [0, 2, 3]), (1, [0, 1])):
        settings = load({**nano, "sentinels": {"parts": 3}, "shards": shards})
        assert [len(shards_before(settings, part)) for part in parts(settings)] == before


def run(folder, limit: float, cores: int):
    config = folder / "sentinels.yaml"
    section = {"number": 8, "parts": 2, "size": 112, "limit": limit}
    config.write_text(yaml.safe_dump({"layers": [str(NANO)], "sentinels": section}), encoding="utf-8")
    return snakemake(folder, "--cores", str(cores), TARGET, config=config)


@pytest.mark.slow
def test_no_file_of_the_corpus_changes(nano, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(nano, folder, copy_function=shutil.copy2, symlinks=True)
    before = digests(folder)
    assert run(folder, 0.5, 2).returncode == 0 and (folder / TARGET).exists()
    after = digests(folder)
    assert {path: digest for path, digest in after.items() if "/sentinels/" not in path} == before


@pytest.mark.slow
def test_the_first_part_stops_a_run_before_any_caption_of_the_corpus(tmp_path):
    stopped = run(tmp_path, 0.001, 1)
    assert stopped.returncode != 0 and "Traceback" not in stopped.stdout and not (tmp_path / TARGET).exists()
    assert "of the statements in captions of rendered moments are false" in stopped.stdout.replace("\n", " ")
    assert "sentinels.limit is 0.001" in stopped.stdout
    assert (tmp_path / "results" / "nano" / "sentinels" / "truth.jsonl").exists()
    assert not list(tmp_path.glob("results/nano/captions/*/shard-*.jsonl"))
