"""Every command that only reads a configuration, on each one that comes with the workflow, in an empty folder.

It works, or it says in words what is missing: videos, annotations or answers that a newcomer has not brought yet.
"""

import re

import pytest
from running import SHIPPED

from verified.__main__ import main

each_shipped = pytest.mark.parametrize("file", SHIPPED.values(), ids=lambda file: file.stem)


@each_shipped
@pytest.mark.parametrize(
    "arguments",
    [("check", "--offline"), ("check", "--print-config"), ("quote",)],
    ids=" ".join,
)
def test_a_command_in_this_process(arguments, file, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    status = main([*arguments, "--configfile", str(file)])
    shown = capsys.readouterr()
    if status == 1:  # findings, each with what to do about it
        assert "problem" in shown.out + shown.err
    elif status == 2:
        assert re.search(r"^error: .+\(.+\)", shown.err, re.MULTILINE) and "Traceback" not in shown.err, shown.err
    else:
        assert status == 0 and shown.out
        if (arguments, file.stem) == (("quote",), "nano"):
            assert "made up to 3 times" in shown.out, "an attempt is paid too"
    assert not any(tmp_path.rglob("results/*.jsonl")), "a command that only reads has built something"
