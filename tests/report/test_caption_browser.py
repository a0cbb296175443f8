"""The caption browser: its data and its view, with captions that try to be anything but text."""

import html
import json
import re
import shutil

import pytest
from browser import browser
from gallery import keyframes

from verified.io.pages import inert_json
from verified.report import captions as module
from verified.report.captions import card, generated_rows, index_row, write_browser

HOSTILE = [
    "</script><script>window.caught = true</script>",
    "<img src=x onerror='window.caught = true'>",
    "<!-- a comment <script>",
    "=cmd|' /C calc'!A0",
    "\u202eevil\u202c right to left \u05d0\u05d1",
    "a lone surrogate \ud800 and \\u003c",
]
ABOUT = {"title": "Captions of <b>Test</b>", "about": "about", "warning": "", "foot": "foot"}


def corpus(count: int) -> tuple[list[dict], list[dict], list[dict], list[dict]]:
    """Moments, scores, caption rows and annotations of `count` moments."""
    moments, scores, captions, annotations = [], [], [], []
    for ident in range(1, count + 1):
        here = {"desc_id": ident, "video": f"video-{ident // 4}"}
        split, times = "train" if ident % 3 else "test", {"start": 1.0, "end": 3.5, "duration": 9.0}
        moments.append({**here, **times, "split": split, "caption": f"thing {ident} moves"})
        for kind in ("statics", "dynamics"):
            texts = [f"{kind} {number} of thing {ident} in the harbour at dusk, seen from afar" for number in range(3)]
            if ident <= len(HOSTILE):
                texts[0] = HOSTILE[ident - 1]
            listed = [{"caption": text, "lineage": "0" * 64} for text in texts]
            captions.append({**here, "type": kind, "shortfall": 0, "reason": None, "candidates": listed, "refused": []})
            for number in range(3):
                score = ident / 100 + number / 10 + (kind == "dynamics" and ident % 2)
                scores.append({"desc_id": ident, "type": kind, "candidate": number, "score": score})
        best = "dynamics" if ident % 2 else "statics"
        chosen = next(row for row in captions[-2:] if row["type"] == best)["candidates"][2]["caption"]
        annotations.append({"desc_id": ident, "fig_desc": chosen, "fig_desc_type": best})
    return moments, scores, captions, annotations


def test_a_card_marks_the_chosen_and_the_lowest_candidate():
    moments, scores, captions, annotations = corpus(2)
    captions[2] |= {"shortfall": 3, "refused": [{}, {}], "reason": "too <short>"}
    annotations[0] |= {"fig_desc": "by hand", "fig_desc_type": "coarse"}
    first, row = generated_rows(moments, scores, captions, annotations)
    assert row[:7] == (2, "video-0", 1.0, 3.5, 9.0, "train", "thing 2 moves")
    assert index_row(row)[:3] == ["2", 0.22, pytest.approx(0.2)]
    text = re.sub("<[^>]*>", "|", card(row, []))
    for words in ("✓ chosen statics 3, 0.220||statics 2", "lowest dynamics 1, 0.020||<img", "statics 1, 0.020||"):
        assert words in html.unescape(text)
    assert row.notes == ["statics: 3 missing, 2 refused, too <short>"] and "too &lt;short&gt;" in text
    assert index_row(first)[1] == 1.21, "the chosen one has no score: the best"
    assert "✓ chosen coarse, not scored: by hand" in index_row(first)[3]


def test_nothing_in_the_data_can_end_its_script_element():
    text = inert_json(HOSTILE)
    assert "<" not in text and text.isascii()
    assert json.loads(text) == HOSTILE


@pytest.mark.parametrize("embedded", [module.EMBEDDED, 0])
def test_a_reader_searches_sorts_turns_pages_and_follows_links(tmp_path, embedded):
    path, archive = tmp_path / "captions.html", keyframes(tmp_path / "shard-00.tar", list(range(1, 41)))
    write_browser(path, tmp_path / "captions-parts", ABOUT, generated_rows(*corpus(200)), [archive], embedded)
    with browser(tmp_path / "browser") as chromium:
        chromium.open(path)
        chromium.wait("document.querySelectorAll('article img').length === 60")
        place = "document.getElementById('place').textContent"
        titles = "[...document.querySelectorAll('article h2')].map((title) => title.textContent)"
        assert chromium.run(place) == "1–20 of 200 moments"
        assert chromium.run("document.querySelector('article img').alt") == "Keyframe of moment 1 at 0:01.5"
        assert chromium.run("document.querySelector('article img').naturalWidth") == 160
        head = chromium.run("document.querySelector('article .soft').textContent")
        assert head == "video-0, 0:01.0–0:03.5 of 0:09.0, train", "minutes and tenths, as keyframes have them"
        chromium.screenshot(f"captions-{'embedded' if embedded else 'beside'}")

        # everything that a caption holds is on the page as text
        shown = chromium.run("[...document.querySelectorAll('li .caption')].map((cell) => cell.textContent)")
        assert set(HOSTILE[:5]) <= set(shown)
        assert not chromium.run("window.caught === true")
        assert chromium.run("document.getElementById('title').textContent") == ABOUT["title"]

        # by keyboard: into the search field, and on to the next page
        chromium.run("document.getElementById('query').focus()")
        chromium.type('"Thing 12 moves" harbour')
        chromium.wait(f"{place} === '1–1 of 1 moments'")
        assert chromium.run(titles) == ["Moment 12"]
        chromium.run("document.querySelector('button[type=reset]').click()")
        chromium.wait(f"{place} === '1–20 of 200 moments'")
        chromium.run("document.getElementById('next').focus()")
        chromium.press("Enter", 13, "\r")
        chromium.wait(f"{place} === '21–40 of 200 moments'")
        assert chromium.run("document.activeElement.tagName") == "ARTICLE"

        def choose(field, value):
            chromium.run(
                f"(() => {{ const field = document.getElementById('{field}'); field.value = '{value}';"
                "field.dispatchEvent(new Event('input', {bubbles: true})); })()"
            )

        choose("query", '"chosen statics"')
        chromium.wait(f"{place} === '1–20 of 100 moments'")
        choose("sort", "best")
        chromium.wait(f"{titles}[0] === 'Moment 200'")
        choose("sort", "worst")
        chromium.wait(f"{titles}[0] === 'Moment 2'")
        choose("query", "")
        choose("sort", "gap")
        chromium.wait(f"{titles}[0] === 'Moment 1'")

        # a link to one moment, there and back
        chromium.run("document.querySelectorAll('h2 a')[2].click()")
        chromium.wait(f"{titles}.join() === 'Moment 5'")
        assert chromium.run("location.hash") == "#moment=5"
        chromium.run("document.querySelector('button[type=reset]').click()")
        chromium.wait(f"{place} === '1–20 of 200 moments' && {titles}[0] === 'Moment 1'")
        chromium.open(path, "#moment=12")
        chromium.wait(f"{titles}.join() === 'Moment 12'")
        assert chromium.messages == []


def test_without_its_folder_the_page_has_the_texts(tmp_path):
    path, parts = tmp_path / "captions.html", tmp_path / "captions-parts"
    write_browser(path, parts, ABOUT, generated_rows(*corpus(3)), embedded=0)
    shutil.rmtree(parts)
    with browser(tmp_path / "browser") as chromium:
        chromium.open(path)
        chromium.wait("document.querySelectorAll('article').length === 3")
        text = chromium.run("document.querySelectorAll('article')[1].innerText")
        assert "thing 2 moves" in text and HOSTILE[1] in text and "captions-parts" in text
