"""The caption browser: its data and its view, with captions that try to be anything but text."""

import json

import pytest
from browser import browser
from gallery import keyframes
from ledger_rows import row_of

from verified.io.pages import inert_json
from verified.lmm.ledger import Ledger
from verified.lmm.ledger_files import key_of, parts_of
from verified.lmm.request import Request
from verified.report import captions as module
from verified.report.captions import generated_rows, write_browser

HOSTILE = [
    "</script><script>window.caught = true</script>",
    "<img src=x onerror='window.caught = true'>",
    "<!-- a comment <script>",
    "=cmd|' /C calc'!A0",
    "\u202eevil\u202c right to left \u05d0\u05d1",
    "a lone surrogate \ud800 and \\u003c",
]
ABOUT = {"title": "Captions of <b>Test</b>", "about": "about", "foot": "foot"}


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


def test_rows_mark_the_chosen_and_the_lowest_candidate():
    row = generated_rows(*corpus(2))[1]
    assert row[:7] == (2, "video-0", 1.0, 3.5, 9.0, "train", "thing 2 moves")
    assert [(kind, number, role) for kind, number, _, _, role in row.candidates] == [
        (0, 0, 0),
        (0, 1, 0),
        (0, 2, 1),
        (1, 0, 2),
        (1, 1, 0),
        (1, 2, 0),
    ]


def test_nothing_in_the_data_can_end_its_script_element():
    text = inert_json(HOSTILE)
    assert "<" not in text and text.isascii()
    assert json.loads(text) == HOSTILE


@pytest.mark.parametrize("embedded", [module.EMBEDDED, 0])
def test_a_reader_searches_filters_sorts_turns_pages_and_follows_links(tmp_path, embedded):
    moments, scores, captions, annotations = corpus(200)
    captions[0]["refused"] = [{"caption": "the <i>original</i> caption says", "reason": "speaks of the caption"}]
    parts = parts_of(Request("statics_candidates", "one\ntwo <b>", {}), (), "some-model", "r1")
    captions[0]["candidates"][0]["lineage"] = key_of(parts)
    path, archive = tmp_path / "captions.html", keyframes(tmp_path / "shard-00.tar", list(range(1, 41)))
    rows = generated_rows(moments, scores, captions, annotations)
    with Ledger(tmp_path / "ledger") as ledger:
        ledger.put({**row_of(1), **parts, "key": key_of(parts)})
        write_browser(path, tmp_path / "captions-parts", ABOUT, rows, captions, [archive], ledger, embedded)
    with browser(tmp_path / "browser") as chromium:
        chromium.open(path)
        chromium.wait("document.querySelectorAll('article img').length === 60")
        place = "document.getElementById('place').textContent"
        titles = "[...document.querySelectorAll('article h2')].map((title) => title.textContent)"
        assert chromium.run(place) == "1–20 of 200 moments"
        assert chromium.run("document.querySelector('article img').alt") == "Keyframe of moment 1 at 0:01.5"
        assert chromium.run("document.querySelector('article img').naturalWidth") == 160
        head = chromium.run("document.querySelector('article header .soft').textContent")
        assert head == "video-0, 0:01.0–0:03.5, train", "minutes and tenths, as keyframes have them"
        chromium.screenshot(f"captions-{'embedded' if embedded else 'beside'}")

        # everything that a caption holds is on the page as text
        shown = chromium.run("[...document.querySelectorAll('td .caption')].map((cell) => cell.textContent)")
        assert set(HOSTILE[:5]) <= set(shown)
        assert not chromium.run("window.caught === true")
        assert chromium.run("document.getElementById('title').textContent") == ABOUT["title"]

        # by keyboard: into the search field, and on to the next page
        chromium.run("document.getElementById('query').focus()")
        chromium.type('"thing 12 moves" harbour')
        chromium.wait(f"{place} === '1–1 of 1 moments'")
        assert chromium.run(titles) == ["Moment 12"]
        assert chromium.run("document.querySelectorAll('mark').length") > 6
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

        choose("type", "statics")
        assert chromium.run(place) == "1–20 of 100 moments"
        choose("low", "1")
        choose("high", "1.2")
        assert chromium.run(titles) == [f"Moment {ident}" for ident in range(80, 101, 2)]
        choose("sort", "best")
        assert chromium.run(titles)[0] == "Moment 100"
        address = chromium.run("location.hash")
        chromium.open(path, address)
        assert chromium.run(titles)[:2] == ["Moment 100", "Moment 98"]

        # a link to one moment, and what lies behind its captions
        chromium.open(path, "#moment=1")
        assert chromium.run(titles) == ["Moment 1"]
        chromium.wait("document.querySelector('details') !== null")
        chromium.run("document.querySelector('details').open = true")
        chromium.wait("document.querySelector('pre') !== null")
        assert chromium.run("document.querySelector('pre').textContent") == "one\ntwo <b>"
        text = chromium.run("document.querySelector('details').textContent")
        assert "some-model" in text and "the <i>original</i> caption says — speaks of the caption" in text
        chromium.screenshot("captions-moment")
        assert chromium.messages == []
