"""Answer files of several people, of every kind of pages: read, refused, collected; keys, shares and agreement."""

import json
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from browser import browser
from people.answered import STUDY, annotations, answer_file, study
from refusals import said

from verified.__main__ import main
from verified.demo.source import write_video
from verified.io.jsonl import write_json
from verified.io.video import cut
from verified.io.video.cut import clips_of
from verified.people.agreement import krippendorff_alpha
from verified.people.answers import checksum, collect
from verified.people.pages import STUDY as STUDY_PAGE
from verified.people.pages import assign, write_pages
from verified.people.study.aggregate import summarise
from verified.people.study.sample import pages, plan

NAN = float("nan")
KEY = study()


def test_checksum_is_fnv_1a():
    assert checksum("") == "cbf29ce484222325"
    assert checksum("foobar") == "85944171f73967e8"


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
    assert krippendorff_alpha(np.array([[3, 3, NAN], [3, 3, 4]]), "ordinal") is None, "pairs are all equal"


def test_each_item_goes_to_different_people_and_nobody_gets_more_than_the_most():
    shares = assign(total=7, most=4, raters=3, seed=2)
    assert [len(share) for share in shares] == [4, 4, 4, 3, 3, 3]
    assert all(len({*share}) == len(share) for share in shares)
    assert Counter(number for share in shares for number in share) == dict.fromkeys(range(1, 8), 3)
    assert len({tuple(map(sorted(share).index, share)) for share in shares[:3:2]}) > 1, "an order for each person"


def test_each_data_set_has_a_draw_of_its_own():
    drawn = [
        {row["desc_id"] for row in plan(dataset, "D", annotations(60, 70), 50, 30, 3, 1)["questions"]}
        for dataset in "ab"
    ]
    assert drawn[0] != drawn[1] and len(drawn[0]) == len(drawn[1]) == 100


def test_who_does_not_answer_is_named_and_blocks_only_what_then_has_too_few_grades(tmp_path, capsys):
    key = study()
    write_json(tmp_path / "key.json", key)
    files = []
    for participant in range(1, 10):
        files.append(str(tmp_path / f"{participant}.json"))
        write_json(files[-1], answer_file(STUDY, key, participant))
    command = ["study", "--key", str(tmp_path / "key.json"), "--collect"]
    assert main([*command, *files]) == 0
    shown = capsys.readouterr().out
    waiting = sorted(key["participants"][9])
    assert f"no answers of participant 10; open questions: {', '.join(map(str, waiting))}" in shown
    assert "of 9 of 10 participants" in shown
    assert "30 of 100 captions are left out: fewer than 3 people graded them" in shown and "--raters 2" in shown
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["missing"] == [10] and summary["left_out"] == waiting
    assert summary["answers"] == 210 and summary["measures"]["S_total"]["captions"] == 70

    assert main([*command, *files, "--raters", "2"]) == 0, "two grades are enough if one says so"
    assert json.loads((tmp_path / "summary.json").read_text())["measures"]["S_total"]["captions"] == 100
    assert "left out" not in capsys.readouterr().out

    whole = json.loads((tmp_path / "9.json").read_text())
    write_json(tmp_path / "9.json", whole | {"answers": whole["answers"][:5]})
    assert main([*command, *files, "--raters", "2"]) == 0
    assert "5 of 30 answers of participant 9; open questions: " in capsys.readouterr().out
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert (summary["unfinished"], summary["missing"]) == ([9], [10])
    assert summary["answers"] == 8 * 30 + 5 - len(summary["left_out"]), "what has one grade alone is left out"

    before = (tmp_path / "summary.json").read_bytes()
    assert main([*command, files[0]]) == 2
    said(capsys.readouterr().err, "3 people")
    assert (tmp_path / "summary.json").read_bytes() == before


def test_measures_are_majorities_and_medians_per_caption():
    key = {"dataset": "d", "title": "D", "study": "0", "seed": 1, "raters": 3, "participants": [[1, 2, 3]] * 3}
    key["questions"] = [{"question": n, "type": "dynamics" if n > 1 else "statics"} for n in (1, 2, 3)]
    grades = {
        1: [(1, 0, 5), (1, 0, 4), (0, 0, 1)],
        2: [(0, 1, 2), (0, 0, 3), (1, 1, 3)],
        3: [(0, 0, 1), (0, 0, 2), (0, 1, 2)],
    }
    answers = [
        {"participant": person + 1, "question": number, "statics": s, "dynamics": d, "accuracy": a}
        for number, given in grades.items()
        for person, (s, d, a) in enumerate(given)
    ]
    values = {name: measure["value"] for name, measure in summarise(answers, key)["measures"].items()}
    assert values == {"R_s_percent": 100, "S_statics": 4, "R_d_percent": 50, "S_dynamics": 2.5, "S_total": 3}
    short, without = (
        summarise([row for row in answers if row["question"] != 1 or row["participant"] <= most], key)
        for most in (2, 0)
    )
    assert short == without and short["left_out"] == [1], "what has too few grades counts nowhere"


def test_clips_are_encoded_by_plain_c_whose_bytes_are_the_same_on_every_processor():
    images = np.random.default_rng(0).integers(0, 255, (12, 64, 96, 3), dtype=np.uint8)

    def encoded(*options: dict[str, str]) -> bytes:
        clip = cut.Clip(64, 96, Fraction(8), *options)
        for number, image in enumerate(images):
            clip.add(number / 8, image)
        return clip.finish(len(images) / 8)

    plain_c = {"crf": "26", "preset": "veryfast", "threads": "1", "x264-params": "no-asm=1"}
    assert encoded() == encoded(plain_c)


def assert_in_view(chromium, opened: bool):
    """Description 2, and the clip below folded instructions, are on the screen without scrolling."""
    chromium.screenshot("study-large", 1500, 1100)
    below = "document.getElementById('{}').getBoundingClientRect().bottom"
    assert chromium.run(below.format("fine")) < 1100 and chromium.run("window.scrollY") == 0
    assert opened or chromium.run(below.format("clip")) < 1100
    assert chromium.run("document.getElementById('instructions').open") == opened
    chromium.screenshot("study-small", 400, 1000)
    assert chromium.run("document.documentElement.scrollWidth") <= 400
    chromium.screenshot("study-large", 1500, 1100)


def test_a_study_is_filled_in_exported_and_imported(tmp_path, capsys):
    key = study(4, 3, captions=3, questions=6)
    random = np.random.default_rng(1)
    videos = []
    for name in ("v0", "v1", "v2"):
        frames = np.repeat(random.integers(0, 255, (1, 64, 96, 3), dtype=np.uint8), 16, axis=0)
        write_video(tmp_path / f"{name}.mp4", frames, 8)
        videos.append({"video": name, "path": str(tmp_path / f"{name}.mp4")})
    clips = clips_of([(row["question"], row["video"], *row["time"]) for row in key["questions"]], videos, 80)
    write_pages(tmp_path / "pages", STUDY_PAGE, pages(key, clips))
    write_json(tmp_path / "key.json", key)
    exports = []
    for participant in (1, 2, 3):
        with browser(tmp_path / f"browser-{participant}") as chromium:
            page = tmp_path / "pages" / f"participant-{participant:02d}.html"
            chromium.open(page)
            chromium.wait("document.getElementById('clip').readyState >= 2")
            if participant == 1:
                assert_in_view(chromium, opened=True)
                chromium.wait("!document.getElementById('clip').paused && document.getElementById('clip').muted")
            assert chromium.run("document.getElementById('clip').videoWidth") == 80
            text = "document.getElementById('{}').textContent"
            for number_before, number in enumerate(key["participants"][participant - 1]):
                chromium.wait(text.format("heading") + f" === 'Question {number_before + 1} of 6'")
                assert chromium.run(text.format("fine")).startswith("<b>fine</b>")
                if number_before:
                    assert_in_view(chromium, opened=False)
                if number_before == 1:  # exporting too early names what is open, and stays there
                    chromium.run("document.getElementById('export').click()")
                    assert "Open: question 2, 3, 4, 5, 6." in chromium.run(text.format("message"))
                    chromium.screenshot("study")
                if number_before == 2:  # begun again with nothing but what it kept: it goes on where it was
                    chromium.run("answers = {}; at = 0; begin()")
                    assert chromium.run(text.format("heading")) == "Question 3 of 6"
                    assert chromium.run(text.format("progress")) == "2 of 6 answered"
                for name, value in (("statics", 1), ("dynamics", number % 2), ("accuracy", 1 + number % 5)):
                    # by keyboard: the space bar marks the radio button that has the focus
                    button = f"document.querySelector('input[name={name}][value=\"{value}\"]')"
                    chromium.run(f"{button}.focus()")
                    chromium.insist(lambda: chromium.press(" ", 32, " "), f"{button}.checked")
                chromium.run("document.getElementById('next').focus()")
                chromium.press("Enter", 13, "\r")
            chromium.run("document.getElementById('export').click()")
            assert "Please send this file back" in chromium.run(text.format("message"))
            chromium.screenshot("study-complete")
            exports.append(str(chromium.downloaded(f"study-{key['study']}-{participant}.json")))
            assert chromium.messages == []
    assert main(["study", "--collect", *exports, "--key", str(tmp_path / "key.json")]) == 0
    assert "R_s_percent  100.00" in capsys.readouterr().out
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["answers"] == 18 and summary["missing"] == summary["left_out"] == []
    assert summary["agreement"]["accuracy"]["alpha"] == pytest.approx(1)
    wanted = np.mean([1 + row["question"] % 5 for row in key["questions"]])
    assert summary["measures"]["S_total"]["value"] == pytest.approx(wanted)
    tampered = json.loads(Path(exports[0]).read_text())
    tampered["answers"][0]["accuracy"] = 6 - tampered["answers"][0]["accuracy"] or 1
    write_json(tmp_path / "tampered.json", tampered)
    command = ["study", "--key", str(tmp_path / "key.json"), "--collect"]
    assert main([*command, str(tmp_path / "tampered.json"), *exports[1:]]) == 2
