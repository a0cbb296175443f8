"""The laws of extensions: the core names none, none imports another, and each folder can be deleted."""

import importlib.util
import re
import shutil
import sys

import pytest
from running import PROJECT, called, copy_project, printed

from verified.__main__ import parser
from verified.cli.command import COMMANDS
from verified.extension import extensions

NAMES = [extension.name for extension in extensions()]
MAIN = "from verified.__main__ import main\nmain()"
CORE = [*PROJECT.glob("scripts/**/*.py"), *PROJECT.glob("rules/*.smk"), PROJECT / "Snakefile"]


@pytest.mark.parametrize("extension", extensions(), ids=NAMES)
def test_the_core_does_not_name_an_extension(extension):
    keys = "|".join(extension.sections) or "(?!)"
    named = re.compile(
        rf"\bverified_{extension.name}\b|extensions/{extension.name}\b|\b(settings|config)\.({keys})\b"
        rf"|[\"'`]({keys})\.[a-z*]"
    )
    found = [
        f"{file.relative_to(PROJECT)}:{number}: {line.strip()}"
        for file in CORE
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1)
        if named.search(line)
    ]
    assert not found


@pytest.mark.parametrize("name", NAMES)
def test_the_makefile_names_no_extension_and_none_of_its_commands(name):
    parser()  # imports the modules that declare commands
    commands = [words for words, command in COMMANDS.items() if command.module.startswith(f"verified_{name}")]
    named = [f"extensions/{name}", *(f"verified {words}" for words in commands)]
    assert not [word for word in named if re.search(rf"\b{word}\b", (PROJECT / "Makefile").read_text(encoding="utf-8"))]


def test_the_site_has_no_link_to_a_page_that_is_not_there(monkeypatch):
    spec = importlib.util.spec_from_file_location("site_hook", PROJECT / ".ci" / "site.py")
    site = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(site)
    monkeypatch.setattr(site, "PAGES", [PROJECT / "extensions" / "here" / "README.md"])
    text = "[Two\nwords](../extensions/gone/README.md#part), [these](../extensions/here/README.md#part)."
    assert site.on_page_markdown(text) == "Two\nwords, [these](here.md#part)."


@pytest.mark.parametrize("name", NAMES)
def test_an_extension_imports_and_links_no_other(name):
    others = re.compile(rf"\bverified_(?!{name}\b)({'|'.join(NAMES)})\b|\]\(\.\./\w+/README")
    files = [file for file in PROJECT.glob(f"extensions/{name}/**/*") if file.suffix in (".py", ".smk", ".md")]
    assert files
    assert not [str(file) for file in files if others.search(file.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("extension", extensions(), ids=NAMES)
def test_a_deleted_extension_leaves_help_keys_and_plans_as_they_were(extension, tmp_path):
    copy = copy_project(tmp_path / "project")
    whole = _say(copy)
    shutil.rmtree(copy / "extensions" / extension.name)
    rest = _say(copy)
    for before, after in zip(whole, rest):
        assert set(after.splitlines()) <= set(before.splitlines()), "nothing is said that was not said before"
    assert extension.title in whole[0] or not extension.commands()
    assert extension.title not in rest[0]
    assert not [
        line for line in rest[1].splitlines() if line.startswith(tuple(f"| `{key}" for key in extension.sections))
    ]
    run = [sys.executable, "-m", "snakemake", "-n", "-q", "all", "--configfile", "config/nano.yaml"]
    printed(run, copy)


def _say(project):
    """The help and the keys of a copy of the project, by its own package."""
    said = []
    for words in (["--help"], ["dev", "config-docs"]):
        code = f"import sys; sys.path.insert(0, 'scripts'); sys.argv[1:] = {words!r}\n{MAIN}"
        said.append(called([sys.executable, "-c", code], project).stdout)
    return said
