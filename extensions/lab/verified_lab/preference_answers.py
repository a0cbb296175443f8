"""Answers of people on pages of a choice between captions of two runs."""

import argparse

from verified.cli.forms import AnswerPages


def _preference_answers(arguments: argparse.Namespace) -> None:
    """Write summary.json and answers.jsonl and print which captions are preferred."""
    from verified.io.jsonl import write_json, write_jsonl
    from verified.people.answers import collect, read_key
    from verified_lab.preference import FORM, summarise

    key, target = read_key(arguments.key, FORM), arguments.output or arguments.key.parent
    collected = collect(arguments.files, key, FORM)
    summary = {**summarise(collected.answers, key), "missing": collected.missing, "unfinished": collected.unfinished}
    write_jsonl(target / "answers.jsonl", collected.answers)
    write_json(target / "summary.json", summary)
    first, second = summary["names"]
    print(f"{first} against {second}: {summary['answers']} answers, {len(summary['missing'])} participants are missing")
    for name, found in summary["questions"].items():
        bounds = "" if found["low"] is None else f" [{found['low']:.1f}, {found['high']:.1f}]"
        p = "" if found["p"] is None else f", p {found['p']:.3f}"
        alpha = "" if found["alpha"] is None else f", alpha {found['alpha']:.2f}"
        votes = f"{found['preferred']} to {found['other_preferred']} captions, {found['undecided']} undecided"
        print(f"  {name:9} {first} {found['share']:.1f} %{bounds}: {votes}{p}{alpha}")


PREFERENCE = AnswerPages("a choice between captions", "preference", _preference_answers)
