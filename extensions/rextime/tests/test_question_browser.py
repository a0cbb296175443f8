"""The page of questions across time: options, spans and frames, all as text; and the page of the suite's tables."""

import pytest
from browser import browser
from media import counted, write_video

from verified.io.video import probe
from verified_rextime.browser import write_question_browser

HOSTILE = "<img src=x onerror='window.caught = true'>"


@pytest.fixture
def questions():
    return [
        {
            "qid": f"q/{number}",
            "vid": "seen" if number < 24 else "lost",
            "query": HOSTILE if number == 0 else f"What happens after {number}?",
            "answer": "It grows.",
            "duration": 2.0,
            "kind": "sequential" if number % 2 else "cause_effect",
            "direction": "forward",
            "split": "test" if number else "train",
            "options": ["It turns.", "It grows.", "It falls.", HOSTILE] if number else [],
            "ans": "B" if number else None,
            "relevant_windows": [[1.0, 1.5]] if number != 2 else [],
            "question_windows": [[0.1, 0.9]],
        }
        for number in range(25)
    ]


def test_questions_are_shown_with_options_spans_and_frames(questions, tmp_path):
    path = write_video(tmp_path / "seen.mp4", counted(16), 8)
    videos = {"seen": {"video": "seen", "path": str(path), **probe(path)}}
    write_question_browser(tmp_path / "questions.html", "Questions of <b>Test</b>", questions, videos)
    text = "document.getElementById('{}').textContent"
    with browser(tmp_path / "browser") as chromium:
        chromium.open(tmp_path / "questions.html")
        assert chromium.run(text.format("place")) == "1–20 of 25 questions"
        assert chromium.run(text.format("title")) == "Questions of <b>Test</b>"
        assert "1 of them without frames" in chromium.run(text.format("about"))
        article = "document.querySelectorAll('article')[{}]"
        assert chromium.run(article.format(0) + ".querySelector('h2').textContent") == HOSTILE
        assert chromium.run(article.format(1) + ".querySelector('li.right').textContent") == "It grows. ✓"
        marked = f"[...{article.format(1)}.querySelectorAll('figure')].map((one) => one.classList[1] || '')"
        assert chromium.run(marked) == ["question"] * 4 + ["answer"] * 2 + [""] * 2
        assert chromium.run(article.format(1) + ".querySelector('img').naturalWidth") > 0
        assert "marked by people" in chromium.run(article.format(2) + ".textContent")
        chromium.screenshot("questions")
        chromium.run(
            "(() => { const field = document.getElementById('timed'); field.value = 'open';"
            "field.dispatchEvent(new Event('input', {bubbles: true})); })()"
        )
        assert chromium.run(text.format("place")) == "1–1 of 1 questions"
        assert not chromium.run("window.caught === true") and chromium.messages == []
