"""What README.md and the pages in docs/ show is what the workflow is, and their commands are taken as written."""

import re
import shlex
from itertools import pairwise

import pytest
from running import PROJECT

from verified.__main__ import parser
from verified.planning.graph import stage_edges, stage_graph

README = (PROJECT / "README.md").read_text(encoding="utf-8")
PAGES = sorted([PROJECT / "README.md", PROJECT / "CONTRIBUTING.md", *(PROJECT / "docs").glob("*.md")])
NAMES = [path.relative_to(PROJECT).as_posix() for path in PAGES]


def commands(page) -> list[list[str]]:
    """The command lines of a page's plain code blocks, their comments and continuation marks gone."""
    fences = re.findall(r"^```(\w*)\n(.*?)^```$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    blocks = [text for language, text in fences if language in ("", "sh", "bash")]
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    return [shlex.split(line, comments=True) for line in lines if re.match(r"(make|verified|snakemake) ", line)]


def test_the_picture_of_the_workflow_is_its_graph_of_stages(tmp_path):
    options = ["--configfile", str(PROJECT / "config" / "config.yaml"), "--directory", str(tmp_path)]
    graph = re.search(r"```mermaid\n(.*?)```", README, re.DOTALL)[1]
    assert graph.strip() == stage_graph([*options, "--", "results/tables"])


def test_edges_that_follow_from_others_are_left_out():
    graph = "id0[a]\nid1[b]\nid2[c]\nid0 --> id1\nid1 --> id2\nid0 --> id2\n"
    stages = {"a": "corpus", "b": "captions", "c": "tables"}
    assert stage_edges(graph, stages) == {("corpus", "captions"), ("captions", "tables")}


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_files_that_a_page_names_exist(page):
    text = page.read_text(encoding="utf-8")
    for path in re.findall(r"`((?:config|profiles|examples|docs|scripts|tests)/[\w./-]+)`", text):
        if not re.search(r"[A-Z]{3}|\.lock\.json$", path):  # placeholders, and what a command writes
            assert (PROJECT / path).exists(), path
    for path in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (page.parent / path).exists(), path


def test_there_is_a_picture():
    assert re.findall(r"!\[[^\]]+\]\(([^)]+)\)", README)


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_commands_of_a_page_are_taken(page, capsys):
    targets = set(re.findall(r"^([\w-]+):", (PROJECT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for program, *words in commands(page):
        line = f"{program} {' '.join(words)}"
        words = [re.sub(r"[\[\]]|\|.*", "", word) for word in words]  # options may be left out, one of several taken
        if program == "make":
            assert {word for word in words if "=" not in word} <= targets, line
        elif program == "verified":
            try:
                parser().parse_args(words)
            except SystemExit:
                pytest.fail(f"{line}\n{capsys.readouterr().err}")
        else:
            for option, value in pairwise(words):
                if option in ("--configfile", "--profile") and value.startswith(("config/", "profiles/")):
                    assert (PROJECT / value).exists(), line


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_commands_in_a_pages_text_exist(page):
    known = set(next(action for action in parser()._actions if hasattr(action, "choices") and action.choices).choices)
    named = set(re.findall(r"`verified ([a-z][\w-]+)", page.read_text(encoding="utf-8")))
    assert named <= known, named - known
