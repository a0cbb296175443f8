"""Pages of questions in a real browser, with names and texts that try to be code."""

import pytest
from faults.test_hostile_pages import assert_no_code_runs, video  # noqa: F401
from hostile import NAMES
from question_pages import QUESTIONS

from verified.__main__ import main
from verified.io.characters import hidden
from verified.io.jsonl import write_jsonl

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


@pytest.mark.parametrize("tool", ["verify", "question-span", "human"])
def test_a_page_runs_no_code_of_what_it_shows(tool, tmp_path, video):  # noqa: F811
    assert_no_code_runs(question_pages(tool), tmp_path, video)
