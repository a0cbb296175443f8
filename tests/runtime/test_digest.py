"""Digests follow imports: a script's modules are in its digest, and no module that cannot change its output."""

import ast

import pytest

from verified.runtime import digest

FILES = {
    "__init__.py": "",
    "stage/__init__.py": "",
    "stage/top.py": "from verified.io.rows import read\n",
    "stage/late.py": "def work():\n    with open('x'):\n        import verified.stage.deep as deep\n",
    "stage/deep.py": "from . import words\nfrom ..io import rows\n",
    "stage/words.py": "LIST = FOLDER / 'words.txt'\n",
    "stage/words.txt": "one\n",
    "stage/other.txt": "never named\n",
    "stage/unused.py": "",
    "cli/__init__.py": "",
    "cli/stage.py": "import verified.stage.unused\n",
    "stage/launch.py": "COMMAND = ['python', '-m', 'verified.stage.words']\n",
    "stage/typed.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from verified.stage import unused\n",
    "io/__init__.py": "",
    "io/rows.py": "from verified.runtime.progress import Progress\nfrom verified.config import load\n",
    "runtime/progress.py": "",
    "config/__init__.py": "",
}


@pytest.fixture
def package(tmp_path, monkeypatch):
    for name, text in FILES.items():
        file = tmp_path / "verified" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    monkeypatch.setattr(digest, "PACKAGE", tmp_path / "verified")
    monkeypatch.setitem(digest.PACKAGES, "verified", tmp_path / "verified")
    cached = (digest.script_digest, digest.modules_digest, digest._module, digest._file, digest._root)
    for function in cached:
        function.cache_clear()
    yield tmp_path / "verified"
    for function in cached:
        function.cache_clear()


def files_of(package, source):
    files = digest._closure(digest._imports(ast.parse(source), ""))
    return {file.relative_to(package).as_posix() for file in files if file.name != "__init__.py"}


@pytest.mark.parametrize(
    ("source", "files"),
    [
        (b"from verified.stage.top import read", {"stage/top.py", "io/rows.py"}),
        (b"def f():\n    from verified.stage import unused", {"stage/unused.py"}),
        (
            b"with job():\n    from verified.stage import late",
            {"stage/late.py", "stage/deep.py", "stage/words.py", "stage/words.txt", "io/rows.py"},
        ),
        (b"from verified.stage.launch import COMMAND", {"stage/launch.py", "stage/words.py", "stage/words.txt"}),
        (b"from verified.stage.typed import name", {"stage/typed.py"}),
        (b"from verified.cli.stage import run\nimport verified.config", set()),
    ],
    ids=["through a module", "in a function", "in a block, with data", "as a process", "for types only", "no bytes"],
)
def test_what_a_script_uses_is_found(package, source, files):
    assert files_of(package, source) == files


def test_any_edit_of_what_is_used_changes_the_digest(package):
    seen = {digest.modules_digest("verified.stage.late")}
    for name in ("io/rows.py", "stage/words.txt", "stage/__init__.py"):
        (package / name).write_text("# edited\n")
        digest.modules_digest.cache_clear()
        digest._module.cache_clear()
        assert digest.modules_digest("verified.stage.late") not in seen
        seen.add(digest.modules_digest("verified.stage.late"))


def test_a_module_that_does_not_exist_is_named(package):
    with pytest.raises(FileNotFoundError, match=r"no module verified\.stage\.none"):
        digest.modules_digest("verified.stage.none")


def test_a_package_of_others_counts_by_its_source_and_a_release_by_its_version(package, monkeypatch):
    layers = package.parent / "theirs" / "nn" / "layers.py"
    layers.parent.mkdir(parents=True)
    layers.write_text("from ..act import activate\n")
    (layers.parents[1] / "act.py").write_text("activate = 'relu'\n")
    (layers.parents[1] / "unused.py").write_text("")
    (package / "stage" / "mine.py").write_text("import numpy.linalg\nfrom theirs.nn import layers\n")
    monkeypatch.syspath_prepend(str(package.parent))

    def told():
        for function in (digest.modules_digest, digest._module, digest._file, digest._root):
            function.cache_clear()
        return digest.modules_digest("verified.stage.mine")

    before = told()
    (layers.parents[1] / "unused.py").write_text("edited = True\n")
    assert told() == before
    (layers.parents[1] / "act.py").write_text("activate = 'gelu'\n")
    edited = told()
    monkeypatch.setattr(digest.metadata, "version", lambda name: f"of another release of {name}")
    assert len({before, edited, told()}) == 3
