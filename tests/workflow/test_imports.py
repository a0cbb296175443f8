"""What a rule's script loads before it does anything: packages that take seconds stand where they are used."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
SECONDS = ("matplotlib", "pandas", "scipy", "sentence_transformers", "sklearn", "spacy", "torch", "transformers")
"""Packages whose import takes a good part of a second, or several."""
TORCH = (
    "evaluator/ablate",
    "search/build_index",
    "demo/describe_pretrained",
    "longform/extract_features",
    "longform/extract_sentence_features",
    "longform/rank_zero_shot",
    "features/extract_text",
    "annotations/measure_agreement",
    "evaluator/finetune",
    "evaluator/meta_evaluate",
    "rextime/fine_tune",
    "rextime/fine_tune_lmm",
    "rextime/ground_as_published",
    "rextime/ground_by_vectors",
    "rextime/ground_questions",
    "weights/import_umt",
    "demo/pretrain_evaluator",
    "features/extract_vectors",
    "retrieval/ask",
    "retrieval/rank_dense",
    "retrieval/rank_videos",
    "evaluator/score_captions",
    "retrieval/test",
    "demo/train_image_backbone",
    "retrieval/train",
    "evaluator/validate",
)
MAY_LOAD = {
    **dict.fromkeys(TORCH, "torch"),
    **dict.fromkeys(("longform/check_collection", "longform/collect", "rextime/score"), "scipy"),
    **dict.fromkeys(("statistics/count_many_to_many", "statistics/project_clusters"), "scipy"),
    "tables/build": "pandas",
    "statistics/measure_language": "spacy",
}
"""Script → the one package of SECONDS that it may load; draw_*.py matplotlib, all others none."""
LOADS = """
import json, os, sys
def loaded(lines, also):
    there, back = os.pipe()
    if os.fork():
        os.close(back)
        return os.fdopen(there).read()
    try:
        for script, line in lines:
            exec(line, {})
        exec(also, {})
        found = [name for name in json.loads(sys.argv[2]) if name in sys.modules]
    except BaseException as error:
        found = f"{script}: {line}: {error!r}"
    os.write(back, json.dumps(found).encode())
    os._exit(0)
groups = json.load(sys.stdin)
print(json.dumps({name: json.loads(loaded(lines, sys.argv[1] if name == "torch" else "")) for name, lines in groups}))
"""
PACKAGED = """
from verified.nn.sentences import encode
from verified.features.text import load_encoder
from verified.benchmark.vcmr.tokens import load_tokeniser
encode(["a ball"]), load_encoder("all-MiniLM-L6-v2"), load_tokeniser("all-MiniLM-L6-v2")
"""


def entries() -> list[Path]:
    """The scripts of all rules."""
    return sorted(file for file in SCRIPTS.glob("*/*.py") if file.parent.name != "verified")


def imports_of(script: Path) -> list[str]:
    """Every import of the script, also inside the block of its job, as a line of its own."""
    nodes = ast.walk(ast.parse(script.read_text(encoding="utf-8")))
    return [ast.unparse(node) for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]


@pytest.fixture(scope="module")
def loaded():
    """Package that a group of scripts may load → those of SECONDS that it does load; "" for scripts that may none."""
    groups: dict[str, list] = {}
    for script in entries():
        name = script.relative_to(SCRIPTS).with_suffix("").as_posix()
        allowed = "matplotlib" if script.stem.startswith("draw") else MAY_LOAD.get(name, "")
        groups.setdefault(allowed, []).extend((name, line) for line in imports_of(script))
    run = subprocess.run(
        [sys.executable, "-c", LOADS, PACKAGED, json.dumps(SECONDS)],
        input=json.dumps(list(groups.items())),
        capture_output=True,
        text=True,
        cwd=SCRIPTS,
        timeout=300,
    )
    assert not run.returncode, run.stderr
    return json.loads(run.stdout)


@pytest.mark.parametrize("package", ["", "matplotlib", "pandas", "scipy", "torch"])
def test_scripts_load_no_more_than_their_work_needs(loaded, package):
    """Of torch's, also the packaged encoders in use: no library that loads any model is behind them."""
    assert loaded[package] == ([package] if package else [])


def test_every_name_is_a_script():
    assert {f"{name}.py" for name in MAY_LOAD} <= {script.relative_to(SCRIPTS).as_posix() for script in entries()}
