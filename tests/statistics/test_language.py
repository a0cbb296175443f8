"""Words, vocabulary and parts of speech."""

import pytest

from verified.statistics.language import averages, load_tagger, tally


def measure(texts, tagger, processes=1):
    return averages([tally(texts, tagger, processes)])


@pytest.fixture(scope="module")
def tagger():
    return load_tagger("en_core_web_sm")


def test_one_sentence_counted_by_hand(tagger):
    result = measure(["The red ball is rolling past Peter."], tagger)
    assert result == {"captions": 1, "vocab": 8, "words": 7.0, "nouns": 2.0, "verbs": 1.0, "adjectives": 1.0}
    assert measure(["two dogs ran", "a dog runs"], tagger)["vocab"] == 4, "lemmas: two, dog, run, a"


def test_repeated_captions_weigh_as_often_as_they_stand(tagger):
    result = measure([*["The boy throws a red ball."] * 3, "A dog is running."], tagger)
    assert result == {"captions": 4, "vocab": 10, "words": 5.5, "nouns": 1.75, "verbs": 1, "adjectives": 0.75}
    lists = [tally(texts, tagger) for texts in (["The boy throws a red ball."] * 3, ["A dog is running."])]
    assert averages(lists) == result, "a list weighs by its captions"


def test_several_processes_count_the_same(tagger, monkeypatch):
    monkeypatch.setattr("verified.statistics.language.FORK_FROM", 1)
    texts = [
        f"a {colour} {thing} {verb}"
        for colour in ("red", "blue")
        for thing in ("ball", "box")
        for verb in ("moves", "grew")
    ]
    assert measure(texts, tagger, processes=2) == measure(texts, tagger)


def test_captions_in_other_scripts_are_counted_and_not_tagged(tagger):
    one = tally(["A dog runs.", "一个男人打开门。", "Собака бежит."], tagger)
    assert (one["captions"], one["other_scripts"], one["words"]) == (1, 2, 3)
