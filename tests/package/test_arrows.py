"""Which rooms of the package may import which: those below, never those above, and no two one another."""

import ast
from pathlib import Path

from verified.runtime.imports import running_nodes

PACKAGE = Path(__file__).resolve().parents[2] / "scripts" / "verified"

ORDER = (
    *("errors", "io", "runtime", "stage", "extension", "nn"),
    *("released", "config", "layout", "weights"),
    *("benchmark", "lmm", "corpus", "keyframes", "captions", "perturbations", "evaluator", "annotations", "features"),
    *("benchmark.vcmr", "demo", "statistics", "tables", "figures"),
    *("people", "benchmark.comparison"),
    *("report", "export", "planning", "cli", "__main__"),
)
"""The rooms from the ground up: each imports those before it alone. `benchmark` is what all benchmarks share."""

UPWARDS = {
    ("corpus", "keyframes.segmentation"): "Scenes, of which moments are proposed, are cut as segments of a moment are.",
    ("evaluator", "demo.pretrained"): "Where the weights lie that come with the workflow is said beside them.",
    ("features", "demo.pretrained"): "The same, of the image backbone.",
    ("evaluator", "demo.tiny_evaluator.stem"): "The evaluator's size `tiny` is built where all sizes are.",
    ("annotations", "features.encoders"): "Agreement among captions looks at keyframes through an encoder of features.",
    ("annotations", "features.packaged"): "The classes that the packaged one knows are looked for in captions.",
}
"""(room, module that it imports) → why this arrow may point upwards."""


def modules(package: Path, top: str = "") -> dict[str, ast.Module]:
    """The parsed modules of a package, by dotted name; those of the core without `verified.`."""
    found = {}
    for file in sorted(package.rglob("*.py")):
        name = ".".join((*top.split(), *file.relative_to(package).with_suffix("").parts))
        found[name.removesuffix(".__init__")] = ast.parse(file.read_text(encoding="utf-8"))
    return found


def imports(tree: ast.Module, known: dict[str, ast.Module], typed: bool = False) -> set[str]:
    """Modules of ours that a module imports, also inside functions; for type checkers alone if `typed`."""
    found = set()
    for node in ast.walk(tree) if typed else running_nodes(tree):
        if isinstance(node, ast.Import):
            named = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"line {node.lineno}: a relative import"
            whole = [f"{node.module}.{alias.name}" for alias in node.names]
            named = [name if name.removeprefix("verified.") in known else str(node.module) for name in whole]
        else:
            continue
        found |= {name.removeprefix("verified.") for name in named if name.startswith(("verified.", "verified_"))}
    return found


def room(module: str) -> str:
    """The longest name in `ORDER` that a module lies in."""
    parts = module.split(".")
    names = [".".join(parts[:n]) for n in (2, 1)]
    return next((name for name in names if name in ORDER), names[-1])


MODULES = modules(PACKAGE)
ARROWS = {name: imports(tree, MODULES) for name, tree in MODULES.items() if name != "__init__"}


def test_every_room_has_its_place():
    assert {room(name) for name in ARROWS} == set(ORDER)


def test_no_arrow_points_upwards():
    place = {name: number for number, name in enumerate(ORDER)}
    upwards = {
        (room(name), target)
        for name, targets in ARROWS.items()
        for target in targets
        if place[room(target)] > place[room(name)]
    }
    assert upwards - UPWARDS.keys() == set(), "import from a room below, or move what both use there"
    assert UPWARDS.keys() - upwards == set(), "these arrows are gone: take them from the list"
    assert all(reason.endswith(".") and "\n" not in reason for reason in UPWARDS.values())


def test_no_modules_import_one_another_not_even_for_types():
    known = dict(MODULES)
    for package in PACKAGE.parents[1].glob("extensions/*/verified_*"):
        known |= modules(package, package.name)
    arrows = {name: imports(tree, known, typed=True) for name, tree in known.items() if name != "__init__"}
    circle = []
    for start in arrows:
        seen, waiting = set(), list(arrows[start])
        while waiting:
            module = waiting.pop()
            if module not in seen:
                seen.add(module)
                waiting += arrows.get(module, ())
        if start in seen:
            circle.append(start)
    assert not circle


def test_rules_hold_no_functions():
    project = PACKAGE.parents[1]
    files = [project / "Snakefile", *project.glob("rules/*.smk")]
    assert len(files) > 20
    lines = [(file.name, line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    assert not [one for one in lines if one[1].lstrip().startswith(("def ", "class ", "try:"))]
