"""Hostile captions through everything that writes them: they stay data, and come out as they went in."""

import csv
import json
import re

import media
import pytest
from candidate_rows import score_row
from hostile import CAPTIONS
from whole_corpus import read_folder

from verified.annotations.selection import annotate, candidates_by_moment
from verified.errors import InputError
from verified.io.characters import hidden
from verified.io.fig import read_fig, write_fig
from verified.io.jsonl import read_jsonl, write_jsonl
from verified.lmm.prompts import read_prompts
from verified.lmm.tasks.paper import PAPER

TEXTS = list(CAPTIONS.values())
each_caption = pytest.mark.parametrize("name", CAPTIONS)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """A corpus whose coarse captions are the hostile ones, read from CSV."""
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "videos").mkdir()
    media.write_video(folder / "videos" / "a.mp4", media.counted(16), fps=8)
    with (folder / "moments.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL)
        writer.writerow(["video", "start", "end", "split", "caption"])
        writer.writerows(["a", 0, 1, "test", text.replace("\x00", "\x01")] for text in TEXTS)
    return read_folder(folder / "videos", folder / "moments.csv", "test")


@pytest.fixture(scope="module")
def chosen(corpus):
    """(moments, candidates by moment, FIG rows): each hostile caption as coarse and as generated caption."""
    scores = [
        score_row(moment["desc_id"], kind, video="a", caption=text)
        for moment, text in zip(corpus.moments, TEXTS)
        for kind in ("statics", "dynamics")
    ]
    groups = candidates_by_moment(corpus.moments, scores)
    rows, _, _ = annotate(corpus.moments, groups)
    return corpus.moments, groups, rows


def test_the_corpus_keeps_text_without_control_characters(corpus):
    assert len(corpus.moments) == len(CAPTIONS)
    for moment in corpus.moments:
        assert not re.search(r"[\x00-\x1f\x7f]", moment["caption"])
        assert moment["caption"] == moment["caption"].strip() != ""


def test_json_lines_and_fig_files_hold_one_row_per_line(chosen, tmp_path):
    moments, _, rows = chosen
    write_jsonl(tmp_path / "rows.jsonl", [{"caption": text} for text in TEXTS])
    assert [row["caption"] for row in read_jsonl(tmp_path / "rows.jsonl")] == TEXTS
    assert (tmp_path / "rows.jsonl").read_bytes().count(b"\n") == len(TEXTS)
    kept = [n for n, text in enumerate(TEXTS) if not hidden(text)]
    write_fig(tmp_path / "test.jsonl", [rows[n] for n in kept])
    assert [row["fig_desc"] for row in read_fig(tmp_path / "test.jsonl")] == [TEXTS[n] for n in kept]
    assert [row["cog_desc"] for row in read_fig(tmp_path / "test.jsonl")] == [moments[n]["caption"] for n in kept]
    for n in set(range(len(TEXTS))) - set(kept):
        write_fig(tmp_path / "test.jsonl", [rows[n]])
        with pytest.raises(InputError, match=f"control character {re.escape(hidden(TEXTS[n]))}"):
            read_fig(tmp_path / "test.jsonl")


@each_caption
def test_prompts_hold_a_caption_as_one_quoted_line(name):
    for task, prompt in read_prompts("config/prompts", PAPER).items():
        plain = {slot: "1" if kind == "number" else "mark" for slot, kind in prompt.kinds.items()}
        quoted = [slot for slot, kind in prompt.kinds.items() if kind == "quoted"]
        for slot in quoted:
            text = prompt.fill({**plain, slot: CAPTIONS[name]})
            assert text.count("\n") == prompt.fill(plain).count("\n"), f"{task}: {slot} broke its line"
            assert json.dumps(" ".join(CAPTIONS[name].split()), ensure_ascii=False) in text
