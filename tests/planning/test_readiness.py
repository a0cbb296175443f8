"""`verified check --print-config`: the configuration with all defaults, and what is missing, each with its remedy."""

from refusals import names
from running import PROJECT

from verified.__main__ import main

PRINT = ["check", "--print-config", "--configfile"]


def test_a_configuration_that_lacks_nothing_is_printed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main([*PRINT, str(PROJECT / "config" / "nano.yaml")]) == 0
    shown = capsys.readouterr()
    assert "video_backbone: small-resnet" in shown.out and not shown.err


def test_the_papers_configuration_says_what_it_still_needs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main([*PRINT, str(PROJECT / "config" / "paper.yaml")]) == 1
    shown = capsys.readouterr()
    assert names(shown.err, "mistralai/Mistral-7B-Instruct-v0.2", "evaluator.umt_file")
    assert all(line.startswith("problem ") and line.endswith(")") for line in shown.err.splitlines())
    assert "video_lmm:" in shown.out
