"""Pages of questions in a real browser, with names and texts that try to be code."""

import pytest
from faults.test_hostile_pages import assert_no_code_runs, video  # noqa: F401
from hostile import NAMES
from question_pages import QUESTIONS

from verified.__main__ import main
from verified.io.characters import hidden
from verified.io.jsonl import write_jsonl
from verified.io.video import probe
from verified.tables.table import Table
from verified_rextime.browser import write_question_browser, write_tables_page

pytestmark = pytest.mark.slow


def question_pages(tool):
    def write(folder, video):  # noqa: F811
        (folder / "videos").mkdir()
        (folder / "videos" / "one.mp4").write_bytes(video.read_bytes())
        rows = [
            {**QUESTIONS[0], "qid": f"{number}{name[:200]}", "query": name, "answer": name, "options": [name] * 4}
            for number, name in enumerate(NAMES)
            if not hidden(name)  # those are refused with their row
        ]
        write_jsonl(folder / "questions.jsonl", rows)
        arguments = ["--tool", tool, "--videos", str(folder / "videos"), "--output", str(folder), "--side", "64"]
        assert main(["rextime", "questions", str(folder / "questions.jsonl"), *arguments, "--title", NAMES[0]]) == 0

    return write


def question_browser(folder, video):  # noqa: F811
    rows = [
        {**QUESTIONS[0], "qid": name, "query": name, "answer": name, "options": [name] * 4, "vid": name, "split": name,
         "direction": name, "kind": name}
        for name in NAMES
    ]  # fmt: skip
    videos = {name: {"video": name, "path": str(video), **probe(video)} for name in NAMES}
    write_question_browser(folder / "questions.html", NAMES[0], rows, videos)
    write_tables_page(
        folder / "tables.html", NAMES[1], [Table("t", name, (name,), ((name,),), (name,)) for name in NAMES]
    )


PAGES = {
    **{tool: question_pages(tool) for tool in ("verify", "question-span", "human")},
    "report": question_browser,
}


@pytest.mark.parametrize("kind", PAGES)
def test_a_page_runs_no_code_of_what_it_shows(kind, tmp_path, video, record_property):  # noqa: F811
    record_property("faults", len(NAMES) * assert_no_code_runs(PAGES[kind], tmp_path, video))
