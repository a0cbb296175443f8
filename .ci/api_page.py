"""Writes docs/api.md: what the parts of the package that others build upon offer, from their docstrings."""

import ast
from collections.abc import Iterator
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
PACKAGE = PROJECT / "scripts" / "verified"
PARTS = {
    "What a model, a metric, a source, an engine, a task or a table is made with": (
        "benchmark/vcmr/contract.py",
        "benchmark/vcmr/decode.py",
        "benchmark/vcmr/metrics.py",
        "config/sources/section.py",
        "config/engines.py",
        "lmm/request.py",
        "lmm/session.py",
        "lmm/tasks/__init__.py",
        "lmm/tasks/numbered.py",
        "tables/table.py",
        "tables/added/__init__.py",
    ),
    "What all benchmarks share": ("benchmark/*.py", "benchmark/vcmr/evaluate.py", "benchmark/vcmr/submission.py"),
    "Training": ("nn/training.py", "nn/checkpoint.py"),
    "Files": ("io/*.py", "io/video/__init__.py", "io/video/spans.py", "released/*.py"),
}
"""Heading → files of the package, or patterns of files."""
HEAD = """# The package, for those who build upon it

Written by `make docs` from the docstrings, module by module; shapes of arrays stand in brackets. What is not
listed here serves one stage alone, and its module says what it does. `from verified.benchmark.tiou import tiou`.
"""


def api_page() -> str:
    """The page as Markdown: every public function and class with its signature and docstring."""
    lines = [HEAD]
    for heading, patterns in PARTS.items():
        lines.append(f"## {heading}\n")
        files = dict.fromkeys(file for pattern in patterns for file in sorted(PACKAGE.glob(pattern)))
        for file in files:
            lines += _module(file)
    return "\n".join(lines)


def _module(file: Path) -> list[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    entries = [line for node in tree.body for line in _entry(node, "")]
    if not entries:
        return []
    name = ".".join(("verified", *file.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")
    about = (ast.get_docstring(tree) or "").partition("\n\n")[0]
    return [f"### `{name}`\n", f"{about}\n", *entries, ""]


def _entry(node: ast.stmt, of: str) -> Iterator[str]:
    """Lines of a list for a class with its methods or a function; none for what is private or has no docstring."""
    if not isinstance(node, ast.FunctionDef | ast.ClassDef) or node.name.startswith("_"):
        return
    about = " ".join((ast.get_docstring(node) or "").split())
    if isinstance(node, ast.ClassDef):
        yield f"- class `{node.name}`: {about}" if about else f"- class `{node.name}`"
        for inner in node.body:
            yield from (f"  {line}" for line in _entry(inner, node.name))
    elif about:
        returned = f" → {ast.unparse(node.returns)}" if node.returns else ""
        yield f"- `{node.name}({ast.unparse(_without_self(node, of))}){returned}`: {about}"


def _without_self(node: ast.FunctionDef, of: str) -> ast.arguments:
    """The parameters of a function; of a method without the first."""
    static = any(ast.unparse(decorator) == "staticmethod" for decorator in node.decorator_list)
    if of and not static and node.args.args:
        node.args.args.pop(0)
    return node.args


if __name__ == "__main__":
    (PROJECT / "docs" / "api.md").write_text(api_page(), encoding="utf-8")
