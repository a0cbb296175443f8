"""Write the kill tables of docs/conformance.md: ``PYTHONPATH=scripts:tests python -m mutants.table [own] [blind]``."""

import sys
import warnings
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from mutants import ALL, killed_by, mutants
from mutants.blind import HONEST, MUTATIONS, Mutation
from mutants.registry import Mutant
from verified.benchmark.vcmr.conformance import failures

PAGE = Path(__file__).parents[2] / "docs" / "conformance.md"
SURVIVES = "**survives**"


def marks(name: str) -> tuple[str, str]:
    """Begin and end of the part of the page that holds a table."""
    return f"<!-- {name} kill table -->\n", f"<!-- end of the {name} kill table -->\n"


def own() -> str:
    """A row for each mutation written beside the checks, in each model's column the check that finds it out."""
    rows: dict[str, dict[str, str]] = {}
    for mutant in mutants():
        killer = killed_by(mutant)
        rows.setdefault(mutant.what, {})[mutant.model] = killer[0] if killer else SURVIVES
    cells = [[what, *(killers.get(model, "") for model in ALL)] for what, killers in rows.items()]
    killed = sum(cell not in ("", SURVIVES) for row in cells for cell in row[1:])
    total = sum(cell != "" for row in cells for cell in row[1:])
    lines = ["| mutation | " + " | ".join(ALL) + " |", "|---" * (1 + len(ALL)) + "|"]
    lines += ["| " + " | ".join(row) + " |" for row in cells]
    return "\n".join([f"{killed} of {total} are found out.\n", *lines]) + "\n"


def blind() -> str:
    """A row for each kind of blind mutation, in one model each, the models in turn; then what is missed."""
    found, missed = defaultdict(list), defaultdict(list)
    for turn, mutation in enumerate(MUTATIONS):
        model = mutation.models[turn % len(mutation.models)]
        killer = killed_by(Mutant(model, mutation.name, mutation.of(model)))
        (found if killer else missed)[mutation.kind].append((mutation, model, killer))
    kinds = list(dict.fromkeys(mutation.kind for mutation in MUTATIONS))
    rows = [
        f"| {kind} | {len(found[kind]) + len(missed[kind])} | {len(found[kind])} "
        f"| {', '.join(sorted({killer[0] for _, _, killer in found[kind]}))} |"
        for kind in kinds
    ]
    survivors = [(mutation, model) for kind in kinds for mutation, model, _ in missed[kind]]
    broken = [f"- {mutation.name} ({model})" for mutation, model in survivors if not mutation.arguable]
    allowed = [f"- {mutation.name} ({model})" for mutation, model in survivors if mutation.arguable]
    total = len(MUTATIONS)
    reported = [f"- {variant.name} ({model}): {', '.join(checks)}" for variant, model, checks in false_alarms()]
    return (
        "\n".join(
            [
                f"{total - len(survivors)} of {total} are found out, of {len(HONEST)} honest variants "
                f"{len(reported) or 'none'} {'are' if len(reported) > 1 else 'is'} reported.\n",
                *reported,
                "| kind | mutants | found out | by |\n|---|---|---|---|",
                *rows,
                f"\nMissed, {len(broken)} that break a model:\n",
                *broken,
                f"\nMissed, {len(allowed)} that the contract allows (a worse model rather than a broken one):\n",
                *allowed,
            ]
        )
        + "\n"
    )


def false_alarms() -> Iterator[tuple[Mutation, str, list[str]]]:
    """Honest variants, each in one model, the models in turn, that some check has something to say against."""
    for turn, variant in enumerate(HONEST):
        model = variant.models[turn % len(variant.models)]
        checks = [check for check, reason in failures(variant.of(model)) if reason]
        if checks:
            yield variant, model, checks


def written(page: str, name: str, table: str) -> str:
    """The page with another table."""
    begin, end = marks(name)
    before, _, rest = page.partition(begin)
    return before + begin + table + end + rest.partition(end)[2]


def main() -> None:
    """Write the tables that are named, or both, into their page."""
    warnings.filterwarnings("ignore", message="std\\(\\)")
    for name in sys.argv[1:] or ("own", "blind"):
        table = {"own": own, "blind": blind}[name]()
        PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), name, table), encoding="utf-8")


if __name__ == "__main__":
    main()
