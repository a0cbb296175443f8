"""The workflow as a picture of its stages: Snakemake's graph of rules, grouped by the file that defines each rule."""

import re
import subprocess
from itertools import product
from pathlib import Path

from verified.errors import InputError
from verified.planning.running import snakemake_command
from verified.runtime.project import PROJECT

GATHERED = {
    "released": "corpus",
    "outcomes": "tables",
    "validation": "evaluator",
    "validity": "tables",
    "dense": "retrieval",
    "grounding": "retrieval",
    "audit": "tables",
    "meta_evaluation": "tables",
}
"""Rule files that are no stage of their own, and the stage that their rules serve."""


def rule_stages(rules: Path = PROJECT / "rules") -> dict[str, str]:
    """Rule → stage, from the files rules/STAGE.smk and rules/STAGE_PART.smk."""
    return {
        rule: GATHERED.get(file.stem, file.stem.partition("_")[0])
        for file in sorted(rules.glob("*.smk"))
        for rule in re.findall(r"^rule (\w+):", file.read_text(encoding="utf-8"), re.MULTILINE)
    }


def stage_edges(graph: str, stages: dict[str, str]) -> set[tuple[str, str]]:
    """(from, to) between stages, from Snakemake's `--rulegraph mermaid-js`; implied edges are left out."""
    names = dict(re.findall(r"^\s*(id\d+)\[([^\]]+)\]", graph, re.MULTILINE))
    rules = [(names[a], names[b]) for a, b in re.findall(r"(id\d+) --> (id\d+)", graph)]
    edges = {(stages[a], stages[b]) for a, b in rules if a in stages and b in stages and stages[a] != stages[b]}
    reach = set(edges)
    nodes = {node for edge in edges for node in edge}
    for middle, start, end in product(sorted(nodes), sorted(nodes), sorted(nodes)):
        if (start, middle) in reach and (middle, end) in reach:
            reach.add((start, end))
    return {(a, b) for a, b in edges if not any((a, c) in reach and (c, b) in reach for c in nodes)}


def stage_graph(options: list[str]) -> str:
    """A Mermaid flowchart of the stages that `snakemake OPTIONS` would run. Raises InputError where it cannot plan."""
    command = snakemake_command("--quiet", "--rulegraph", "mermaid-js", *options)
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        raise InputError(f"Snakemake cannot plan this: {(run.stdout + run.stderr)[-1000:].strip()}")
    edges = stage_edges(run.stdout, rule_stages())
    lines = [f"    {a} --> {b}" for a, b in sorted(edges)]
    return "\n".join(["flowchart LR", *lines])
