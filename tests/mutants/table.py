"""Write the kill table of docs/conformance.md: ``PYTHONPATH=scripts:tests python -m mutants.table``."""

from pathlib import Path

from mutants import ALL, killed_by, mutants

PAGE = Path(__file__).parents[2] / "docs" / "conformance.md"
BEGIN, END = "<!-- kill table -->\n", "<!-- end of the kill table -->\n"


def table() -> str:
    """The kill table in Markdown: a row for each mutation, in each model's column the check that finds it out."""
    rows: dict[str, dict[str, str]] = {}
    for mutant in mutants():
        killer = killed_by(mutant)
        rows.setdefault(mutant.what, {})[mutant.model] = killer[0] if killer else "**survives**"
    cells = [[what, *(killers.get(model, "") for model in ALL)] for what, killers in rows.items()]
    killed = sum(cell not in ("", "**survives**") for row in cells for cell in row[1:])
    total = sum(cell != "" for row in cells for cell in row[1:])
    lines = ["| mutation | " + " | ".join(ALL) + " |", "|---" * (1 + len(ALL)) + "|"]
    lines += ["| " + " | ".join(row) + " |" for row in cells]
    return "\n".join([f"{killed} of {total} mutants are found out.\n", *lines]) + "\n"


def main() -> None:
    """Write the table into its page."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    PAGE.write_text(before + BEGIN + table() + END + rest.partition(END)[2], encoding="utf-8")


if __name__ == "__main__":
    main()
