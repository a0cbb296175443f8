"""Questions on the captions of a release: planted texts of each kind, and beside each one that must not be counted."""

import csv

import pytest
from given import fig
from refusals import refused, said

from verified.__main__ import main
from verified.io.fig import write_fig
from verified.io.jsonl import read_jsonl
from verified.nn.sentences import encode
from verified.statistics.language import load_tagger
from verified_lab.audit.captions import audit_captions, read_checked, read_release, tables

DULL = "A brown dog digs a deep hole under the old apple tree."
COARSE = "a dog digs a hole"
TEXTS = {
    "form/speaks_of_time": ("A dog digs for 12 seconds under the tree.", "A dog digs beside 12 flowers."),
    "form/no_answer": ("I'm sorry, but I cannot see the dog.", "The sorry dog cannot see the hole."),
    "form/speaks_of_frames": ("The image of a dog that digs.", "A dog digs beside an image of a cat."),
    "form/hedges": ("A dog digs, possibly for a bone.", "A dog suggestively appears and digs."),
    "form/speaks_of_camera": ("The camera follows a dog that digs.", "A dog digs a camera out of the sand."),
    "form/speaks_of_video": ("A dog digs until the clip ends.", "A dog digs up a paper clip."),
    "form/cut": ("A dog digs a hole beneath the", "A dog digs a hole and then another."),
    "form/no_common_word": ("Ein brauner Hund gräbt zwei Löcher.", "Brown dog digs deep hole under apple tree."),
    "form/other_lint": ("“A dog digs a hole.”", "A dog digs a hole, “a grave”."),
    "types/things_only": ("A spotted dog digs a muddy hole.", "A spotted dog is barking as it digs a hole."),
    "types/actions_only": ("A dog digs a hole and barks loudly.", "A dog digs a hole and wears it."),
    "lost/nouns": ("A dog digs quickly.", "Some dogs dig two holes."),
    "lost/verbs": ("A dog sits in a hole.", "A dog is digging a hole."),
}
"""A caption that the finding flags, and one that it does not."""


@pytest.fixture(scope="module")
def tagger():
    return load_tagger("en_core_web_sm")


def flagged(folder, tagger, **splits) -> dict[str, list[int]]:
    """By question/finding the ids that are flagged in the files of `splits`, with all of `of`."""
    for name, rows in splits.items():
        write_fig(folder / f"{name}.jsonl", rows)
    captions = read_release(folder / f"{name}.jsonl" for name in splits)
    found = audit_captions(captions, encode, tagger)
    return {
        f"{one.question}/{one.name}": [captions[number].row["desc_id"] for number in sorted(one.details)]
        for one in found
    }


def test_texts_of_each_kind_are_flagged_and_their_neighbours_are_not(tmp_path, tagger):
    rows = [
        fig(3 * number + beside, f"v{number}", cog_desc=COARSE, fig_desc=text)
        for number, pair in enumerate(TEXTS.values())
        for beside, text in enumerate(pair)
    ]
    found = flagged(tmp_path, tagger, test=rows)
    for number, finding in enumerate(TEXTS):
        own = [3 * number + beside for beside in (0, 1) if 3 * number + beside in found[finding]]
        assert own == [3 * number], f"{finding}: {TEXTS[finding]}"


def test_words_of_the_coarse_caption_and_people_by_another_name_are_no_finding(tmp_path, tagger):
    rows = [
        fig(1, "a", cog_desc="camera possibly follows a dog", fig_desc="The camera possibly follows a big dog."),
        fig(2, "b", cog_desc="a person digs", fig_desc="A woman digs in a white dress."),
    ]
    found = flagged(tmp_path, tagger, test=rows)
    assert not found["form/hedges"] and not found["form/speaks_of_camera"] and not found["lost/nouns"]


def test_captions_that_fit_several_moments_and_those_of_two_splits(tmp_path, tagger):
    train = [
        fig(1, "a", 0, 3, fig_desc=DULL),
        fig(2, "a", 6, 9, fig_desc=DULL.upper()),
        fig(5, "b", 0, 3, fig_desc="A man plays chess."),
        fig(6, "c", 0, 3, fig_desc="A man plays chess."),
    ]
    test = [
        fig(8, "d", 0, 3, cog_desc="another", fig_desc="a man plays chess"),
        fig(9, "a", 6, 9, cog_desc="a third", fig_desc="A boat sinks at night."),
    ]
    found = flagged(tmp_path, tagger, train=train, test=test)
    assert found["alike/ambiguous"] == [1, 2] and found["alike/repeated"] == []
    assert found["alike/fits_other_videos"] == [5, 6, 8]
    assert found["splits/same_words"] == found["splits/near"] == [8]
    assert found["splits/same_coarse"] == [] and found["splits/same_video"] == [9]


def test_spans_and_scores_are_compared_within_their_data_set(tmp_path, tagger):
    texts = [f"A dog digs hole number {number}." for number in range(20)]
    rows = [fig(n, f"v{n % 7}", 1.0, 9.0, fig_desc=text, fig_desc_score=n / 4 - 1) for n, text in enumerate(texts)]
    rows[3] |= {"time": [2.0, 10.4]}
    rows[5] |= {"time": [2.0, 11.5], "fig_desc_score": -0.5}
    rows[11] |= {"time": [12.0, 14.0]}
    rows[13] |= {"time": [4.0, 4.0]}
    for folder, own in (("first", rows), ("second", [{**row, "fig_desc_score": 0.125} for row in rows[:1]])):
        (tmp_path / folder).mkdir()
        write_fig(tmp_path / folder / "test.jsonl", own)
    captions = read_release(tmp_path / folder / "test.jsonl" for folder in ("first", "second"))
    findings = audit_captions(captions, encode, tagger)
    found = {f"{one.question}/{one.name}": sorted(one.details) for one in findings}
    assert found["spans/outside"] == [3, 5, 11, 13] and found["spans/outside_by_1_s"] == [5, 11, 13]
    assert found["spans/starts_after_the_end"] == [11] and found["spans/no_length"] == [13]
    assert found["scores/tie_in_file"] == [2, 5] and found["scores/tie_in_video"] == []
    assert found["scores/below_0"] == [0, 1, 2, 3, 5]
    made = {table.key: table for table in tables(captions, findings, {"spans/outside": [True, True, False]})}
    outside = made["spans"].rows[0]
    assert outside[:2] == ("outside", 4) and outside[2].value == 4 / 20 and outside[3] == 0.0
    assert outside[4:] == ("3, 5", "2 of 3")
    low = {row[0]: row[1:] for row in made["lowest-tenth"].rows}
    assert low["spans: outside"][0].value == 0 and low["spans: outside"][1].value == pytest.approx(4 / 19)


def test_the_command_writes_tables_evidence_without_sentences_and_rows_to_read(tmp_path, capsys):
    rows = [
        fig(n, f"v{n % 3}", fig_desc=text, cog_desc=COARSE)
        for n, text in enumerate([DULL, "A dog digs, possibly for a bone.", "A dog likely digs.", "A dog digs."])
    ]
    write_fig(tmp_path / "test.jsonl", rows)
    words = ["audit", "--captions", str(tmp_path / "test.jsonl"), "--output", str(tmp_path / "out")]
    assert main([*words, "--draw", "1"]) == 0
    assert "hedges" in capsys.readouterr().out
    text = (tmp_path / "out" / "findings.jsonl").read_text("utf-8")
    assert "possibly" in text and "under the old" not in text
    hedges = [row for row in read_jsonl(tmp_path / "out" / "findings.jsonl") if row["finding"] == "form/hedges"]
    assert [(row["split"], row["desc_id"], row["row"], row["words"]) for row in hedges] == [
        ("test", 1, 2, "possibly"), ("test", 2, 3, "likely"),
    ]  # fmt: skip
    with (tmp_path / "out" / "drawn.csv").open(encoding="utf-8", newline="") as file:
        drawn = list(csv.DictReader(file))
    assert len([row for row in drawn if row["finding"] == "form/hedges"]) == 1
    assert main([*words, "--checked", str(tmp_path / "out" / "drawn.csv")]) == 2
    said(capsys.readouterr().err, "drawn.csv", remedy=True)
    (tmp_path / "read.csv").write_text("finding,split,desc_id,right\nform/hedges,test,1,yes\n")
    assert read_checked(tmp_path / "read.csv") == {"form/hedges": [True]}


def test_a_file_without_fine_captions_or_given_twice_is_refused(tmp_path):
    row = fig(1)
    write_fig(tmp_path / "coarse.jsonl", [row, {key: row[key] for key in row if key != "fig_desc"} | {"desc_id": 2}])
    with refused("fig_desc", file=tmp_path / "coarse.jsonl", row=2):
        read_release([tmp_path / "coarse.jsonl"])
    write_fig(tmp_path / "fine.jsonl", [row])
    with refused(file=tmp_path / "fine.jsonl", remedy=True):
        read_release([tmp_path / "fine.jsonl"] * 2)
