"""What README.md shows is what the workflow is."""

import re

from running import PROJECT

from verified.planning.graph import stage_edges, stage_graph

README = (PROJECT / "README.md").read_text(encoding="utf-8")


def test_the_picture_of_the_workflow_is_its_graph_of_stages(tmp_path):
    options = ["--configfile", str(PROJECT / "config" / "config.yaml"), "--directory", str(tmp_path)]
    graph = re.search(r"```mermaid\n(.*?)```", README, re.DOTALL)[1]
    assert graph.strip() == stage_graph([*options, "--", "results/tables"])


def test_edges_that_follow_from_others_are_left_out():
    graph = "id0[a]\nid1[b]\nid2[c]\nid0 --> id1\nid1 --> id2\nid0 --> id2\n"
    stages = {"a": "corpus", "b": "captions", "c": "tables"}
    assert stage_edges(graph, stages) == {("corpus", "captions"), ("captions", "tables")}


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
