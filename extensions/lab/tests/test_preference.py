"""A blind choice between the captions of two runs: what is asked, what comes back, and the page in a browser."""

import json

import pytest
from people.answered import answer_file
from refusals import refused, said

from verified.__main__ import main
from verified.io.jsonl import write_json
from verified_lab.preference import EQUAL, FORM, pages, plan, sign_test

NAMES = ("run-one", "run-two")
COUNT = 20


def pairs(count=COUNT):
    return [
        tuple({"video": f"v{n % 5}", "time": [0.5, 1.5], "fig_desc": f"<b>{name}</b> says {n}"} for name in ("x", "y"))
        for n in range(count)
    ]


def test_which_comes_first_is_left_to_chance_and_pages_do_not_tell():
    key = plan(NAMES, [*pairs(), (pairs()[0][0], pairs()[0][0])], 100, 8, 3, 1)
    assert len(key["questions"]) == COUNT and key["equal"] == 1
    assert len({tuple(row["shown"]) for row in key["questions"]}) == 2
    for row in key["questions"]:
        said_first = "x" if row["shown"][0] == NAMES[0] else "y"
        assert row["first"].startswith(f"<b>{said_first}</b>")
    shown = json.dumps([page.data for page in pages(key, dict.fromkeys(range(1, COUNT + 1), b""))])
    assert not any(name in shown for name in NAMES)
    assert key == plan(NAMES, [*pairs(), (pairs()[0][0], pairs()[0][0])], 100, 8, 3, 1)
    with refused(remedy=True):
        plan(NAMES, [(pairs()[0][0], pairs()[0][0])], 5, 5, 1, 1)


def choose(key, who):
    """Answers that prefer `who`'s caption, and find no difference in accuracy."""

    def given(number):
        side = key["questions"][number - 1]["shown"].index(who)
        return {"better": ("first", "second")[side], "accurate": EQUAL}

    return given


def test_a_preference_is_a_share_with_an_interval_and_a_sign_test(tmp_path, capsys):
    key = plan(NAMES, pairs(), COUNT, COUNT, 3, 1)
    write_json(tmp_path / "key.json", key)
    files = []
    for person, who in ((1, NAMES[0]), (2, NAMES[0]), (3, NAMES[1])):
        files.append(str(tmp_path / f"{person}.json"))
        write_json(files[-1], answer_file(FORM, key, person, choose(key, who)))
    command = ["answers", "--key", str(tmp_path / "key.json")]
    assert main([*command, *files]) == 0
    shown = capsys.readouterr().out
    assert "run-one 66.7 %" in shown and "20 to 0 captions" in shown and "p 0.000" in shown
    summary = json.loads((tmp_path / "summary.json").read_text())
    better, accurate = (summary["questions"][name] for name in ("better", "accurate"))
    assert better["share"] == pytest.approx(200 / 3) and better["p"] == pytest.approx(2 * 0.5**20)
    assert better["low"] <= better["share"] <= better["high"]
    assert accurate == {**accurate, "share": 50, "undecided": COUNT, "p": None, "alpha": None}

    assert main([*command, files[0]]) == 0
    assert "2 participants are missing" in capsys.readouterr().out
    answers = json.loads((tmp_path / "1.json").read_text())
    answers["answers"][0]["better"] = "third"
    write_json(tmp_path / "bad.json", answers)
    assert main([*command, str(tmp_path / "bad.json")]) == 2
    said(capsys.readouterr().err, "better", "third")
    write_json(tmp_path / "key.json", {**key, "names": ["a", "b"]})
    assert main([*command, *files]) == 2
    said(capsys.readouterr().err, "question", remedy=True)


def test_a_fair_coin_is_not_significant():
    assert sign_test(0, 0) is None and sign_test(5, 5) == 1 and sign_test(9, 1) == pytest.approx(0.0215, abs=1e-4)
