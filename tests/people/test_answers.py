"""Answer files of several people, of every kind of pages: read, refused, collected; keys, shares and agreement."""

from collections import Counter

import numpy as np
import pytest
from people.answered import STUDY, answer_file, study
from refusals import refused

from verified.io.jsonl import write_json
from verified.people.agreement import krippendorff_alpha
from verified.people.answers import checksum, collect, read_answers, read_key
from verified.people.sample import assign

NAN = float("nan")
KEY = study()


@pytest.mark.parametrize(
    "total, most, raters", [(100, 30, 3), (39, 30, 3), (5, 5, 3), (7, 5, 2), (1, 1, 3), (41, 10, 4)]
)
def test_each_item_goes_to_as_many_different_people(total, most, raters):
    shares = assign(total, most, raters, seed=3)
    asked = Counter(number for share in shares for number in share)
    assert asked == dict.fromkeys(range(1, total + 1), raters)
    assert all(len(set(share)) == len(share) <= most for share in shares)
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


def test_checksum_is_fnv_1a():
    assert checksum("") == "cbf29ce484222325"
    assert checksum("foobar") == "85944171f73967e8"


REFUSALS = {
    "of other pages": (lambda v, form: v.update({form.task: "f" * 16}), "ffffffffffffffff"),
    "no such person": (lambda v, form: v.update({form.person: 11}), "{person} 11"),
    "no number of a person": (lambda v, form: v.update({form.person: True}), "{person} True"),
    "another person's": (lambda v, form: v.update({form.person: 3}), "{person} 3"),
    "nothing answered": (lambda v, form: v["answers"].clear(), "no answer"),
    "doubled": (lambda v, form: v["answers"].append(v["answers"][1]), "{item} {n}", "twice"),
    "not asked": (lambda v, form: v["answers"][1].update({form.item: 999}), "{item} 999", "{person} 2"),
    "no number": (lambda v, form: v["answers"][1].update({form.item: [1]}), "{person} 2"),
    "edited": (lambda v, form: v["answers"][1].update({form.values[0]: 0}), "{item} {n}", "edited"),
    "no list": (lambda v, form: v.update(answers="x"), "{person} 2"),
    "not an answer file": (lambda v, form: v.clear(), "answer file"),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_files_that_are_not_whole_and_genuine_are_refused_with_the_item(case, tmp_path):
    form, key, (change, *named) = STUDY, KEY, REFUSALS[case]
    values = answer_file(form, key, 2)
    words = {"person": form.person, "item": form.item, "n": values["answers"][1][form.item]}
    change(values, form)
    write_json(tmp_path / "back.json", values)
    with refused(*(one.format(**words) for one in named), file="back.json", remedy=True):
        read_answers(tmp_path / "back.json", key, form)


def test_who_stopped_early_counts_with_what_there_is(tmp_path):
    form, key = STUDY, KEY
    files = [answer_file(form, key, person) for person in (1, 2)]
    first = files[0]["answers"][0][form.item]
    files[0]["answers"] = files[0]["answers"][:1]
    for number, values in enumerate(files):
        write_json(tmp_path / f"{number}.json", values)
    collected = collect([tmp_path / "0.json", tmp_path / "1.json"], key, form)
    asked = form.shares(key)
    assert len(collected.answers) == 1 + len(asked[1])
    assert collected.open == {1: sorted({*asked[0]} - {first})} | {
        person: sorted(share) for person, share in enumerate(asked, start=1) if person > 2
    }
    assert collected.unfinished == [1] and collected.missing == list(range(3, len(asked) + 1))


def test_who_is_there_twice_is_refused_and_who_is_not_is_named(tmp_path):
    form, key = STUDY, KEY
    write_json(tmp_path / "3.json", answer_file(form, key, 3) | {"log": [{"action": "shown"}, "odd"]})
    collected = collect([tmp_path / "3.json"], key, form)
    assert collected.missing == [number for number in range(1, len(form.shares(key)) + 1) if number != 3]
    assert collected.logs == [{form.person: 3, "action": "shown"}]
    assert list(collected.answers[0])[:3] == [form.person, form.item, form.values[0]]
    with refused(f"{form.person} 3", file="3.json"):
        collect([tmp_path / "3.json"] * 2, key, form)


KEYS = {
    "no items": lambda key, form: key.update({f"{form.item}s": {}}),
    "items not numbered": lambda key, form: form.items(key)[0].pop(form.item),
    "item of another": lambda key, form: form.shares(key)[0].append(999),
    "no list of people": lambda key, form: key.update({f"{form.person}s": 3}),
    "no task": lambda key, form: key.update({form.task: 3}),
    "not a key": lambda key, form: key.clear(),
}


@pytest.mark.parametrize("change", KEYS)
def test_a_key_that_was_changed_is_named(change, tmp_path):
    form, key = STUDY, study()
    write_json(tmp_path / "key.json", key)
    assert read_key(tmp_path / "key.json", form) == key
    KEYS[change](key, form)
    write_json(tmp_path / "key.json", key)
    with refused(file="key.json", remedy=True):
        read_key(tmp_path / "key.json", form)


def test_alpha_of_a_known_example():
    # four observers, twelve units; the textbook's values
    grades = np.array([
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
        [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
    ])  # fmt: skip
    assert krippendorff_alpha(grades, "nominal") == pytest.approx(0.743, abs=5e-4)
    assert krippendorff_alpha(grades, "ordinal") == pytest.approx(0.815, abs=5e-4)
    assert krippendorff_alpha(grades, "interval") == pytest.approx(0.849, abs=5e-4)


@pytest.mark.parametrize("guessing", [0.0, 0.3, 0.6, 1.0])
def test_simulated_raters_recover_the_alpha_they_were_made_with(guessing):
    # Raters who guess from the distribution of the truth with probability g agree with alpha (1 - g)², at every level.
    random = np.random.default_rng(5)
    items, shares = 10_000, assign(10_000, 1000, 3, 1)
    weights = {"yes or no": [0.3, 0.7], "even": [0.5, 0.5], "steps": [0.05, 0.1, 0.15, 0.3, 0.4]}
    for name, weight in weights.items():
        truth = random.choice(len(weight), items, p=weight)
        matrix = np.full((len(shares), items), NAN)
        for person, numbers in enumerate(shares):
            places = np.array(numbers) - 1
            guesses = random.choice(len(weight), len(places), p=weight)
            matrix[person, places] = np.where(random.random(len(places)) < guessing, guesses, truth[places])
        for level in ("nominal", "ordinal", "interval") if name == "steps" else ("nominal",):
            assert krippendorff_alpha(matrix, level) == pytest.approx((1 - guessing) ** 2, abs=0.03)
