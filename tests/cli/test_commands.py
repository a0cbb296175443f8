"""Commands and their options: those that pages and messages name exist, and the help lists all."""

import contextlib
import re
import shlex
from collections.abc import Iterator

import pytest
from running import PROJECT, WHOLE, options_of

from verified.__main__ import main, parser
from verified.cli.command import COMMANDS, FAMILIES

parser()  # imports the modules that declare commands

SHOWN = {".md", ".py", ".smk", ".yaml", ".yml", ".json", ".js", ".css", ".html", ".toml", ""}
FOLDERS = (
    *("docs", "config", "profiles", "rules", "scripts", "examples"),
    *("benchmarks", "tests", "report", "envs", "extensions", ".github"),
)


def texts() -> Iterator[tuple[str, str]]:
    """(path, text) of every file that may show a command; CHANGELOG.md tells of old versions."""
    files = [path for path in PROJECT.iterdir() if path.is_file() and path.name != "CHANGELOG.md"]
    files += [path for folder in FOLDERS for path in (PROJECT / folder).rglob("*") if path.is_file()]
    for path in files:
        name = path.relative_to(PROJECT).as_posix()
        if path.suffix in SHOWN and path.stat().st_size < 2_000_000:
            yield name, path.read_text(encoding="utf-8", errors="replace")


TEXTS = dict(texts())


@WHOLE
def test_every_command_that_is_quoted_anywhere_has_its_words_and_its_options():
    wrong = []
    for name, text in TEXTS.items():
        lines = "" if name.endswith(".md") else r"\n"  # of a page alone, a quotation goes on in the next line
        for span in re.findall(rf"`verified ([a-z][^`{lines}]*)`", text):
            words = re.sub(r"\{[^}]*\}", "FILE", span).split()
            command = next((c for c in (" ".join(words[:2]), words[0]) if c in COMMANDS), None)
            if command is None and words[0] in FAMILIES and (len(words) == 1 or not words[1].isalpha()):
                continue  # the family itself
            known = options_of(command) if command else set()
            options = {word.partition("=")[0].strip("[],.;") for word in words if word.lstrip("[").startswith("--")}
            if command is None or not {option.lstrip("[") for option in options - {"--"}} <= known:
                wrong.append(f"{name}: verified {span}")
    assert not wrong, "\n".join(wrong)


@WHOLE
@pytest.mark.parametrize("words", COMMANDS)
def test_the_help_of_a_command_ends_with_its_example_and_a_page_that_names_it(words, capsys):
    command = COMMANDS[words]
    with pytest.raises(SystemExit):
        parser().parse_args([*words.split(), "--help"])
    assert capsys.readouterr().out.endswith(f"\n  {command.example}\n\nmore: {command.page}\n")
    assert parser().parse_args(shlex.split(command.example, comments=True)[1:]).run is command.run
    assert f"verified {words}" in " ".join((PROJECT / command.page).read_text(encoding="utf-8").split())


def test_a_user_has_few_commands_to_learn():
    assert len({words.split()[0] for words in COMMANDS}) <= 26


@pytest.mark.parametrize("command", ["report", "study", "quote", "export"])
def test_a_word_too_many_is_not_lost_among_the_options_of_snakemake(command, capsys):
    with pytest.raises(SystemExit) as ended:
        raise SystemExit(main([command, "kitchen.yaml"]))
    assert ended.value.code == 2 and "kitchen.yaml" in capsys.readouterr().err
    assert parser().parse_args(["report", "--", "--dry-run"]).options == ["--dry-run"]


def test_characters_that_act_on_a_terminal_are_printed_as_escapes(tmp_path, capsys):
    path = tmp_path / "a\x1b[2J\u202eb\r.jsonl"
    path.write_text('{"video": "v"}\n')
    assert main(["lint", str(path)]) == 1 and main(["lint", f"{path}x"]) == 2
    said = "".join(capsys.readouterr())
    assert said.count("a\\x1b[2J\\u202eb\\r.jsonl") == 2 and not re.search("[\x1b\r\u202e]", said)


def test_a_command_whose_output_is_closed_ends_as_usual(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"video": "v"}\n')
    with contextlib.redirect_stdout(None):  # as `verified lint a.jsonl >&-` gives it
        assert main(["lint", str(tmp_path / "a.jsonl")]) == 1
