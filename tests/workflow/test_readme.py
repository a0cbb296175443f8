"""What README.md shows is what the workflow is."""

import re

from running import PROJECT, snakemake

README = (PROJECT / "README.md").read_text(encoding="utf-8")


def test_the_picture_of_the_workflow_is_its_rule_graph(tmp_path):
    run = snakemake(
        tmp_path, "--rulegraph", "mermaid-js", "results/tables", "--quiet", config=PROJECT / "config" / "config.yaml"
    )
    assert run.returncode == 0, run.stdout[-2000:]
    names = dict(re.findall(r"^\s*(id\d+)\[(\w+)\]", run.stdout, re.MULTILINE))
    edges = {(names[a], names[b]) for a, b in re.findall(r"(id\d+) --> (id\d+)", run.stdout)}
    graph = re.search(r"```mermaid\n(.*?)```", README, re.DOTALL)[1]
    assert set(re.findall(r"(\w+) --> (\w+)", graph)) == edges


def test_files_that_it_names_exist():
    for path in re.findall(r"`((?:config|profiles|examples|docs|scripts)/[\w./-]+)`", README):
        assert (PROJECT / path).exists(), path


def test_pictures_are_there():
    pictures = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", README)
    assert pictures
    assert all((PROJECT / path).is_file() for path in pictures)


def test_commands_exist():
    from verified.__main__ import parser

    known = set(next(action for action in parser()._actions if hasattr(action, "choices") and action.choices).choices)
    named = set(re.findall(r"`?verified ([a-z][\w-]+)", README))
    assert named <= known, named - known
