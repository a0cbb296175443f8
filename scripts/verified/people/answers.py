"""Read the answer files exported by pages, check them against the pages' key, and report the item number in errors."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from verified.errors import InputError
from verified.io.jsonl import read_json
from verified.people.pages import add_digest


@dataclass(frozen=True)
class Form:
    """Names and valid answers in the files of one kind of page.

    An answer file has the keys `task` (whose it is), `person` (a number) and ``answers``; the key of the pages has
    `task`, and `people` and `items` with an s. An answer has its number as `item` and then `values`, or just ``bad``.
    """

    task: str
    person: str
    item: str
    values: tuple[str, ...]
    problem: Callable[[Mapping, Mapping, Mapping], str | None]
    """The problem with an answer to an item of a key, or None."""

    def items(self, key: Mapping) -> list[dict]:
        """The items of the pages, numbered from 1."""
        return key[f"{self.item}s"]

    def shares(self, key: Mapping) -> list[list[int]]:
        """Item numbers of each person."""
        return key[f"{self.person}s"]


def read_key(path: str | Path, form: Form) -> dict:
    """Read the key of pages. Raises InputError for any other file or an altered one, whose digest is another."""
    key = read_json(path)
    content = {name: value for name, value in key.items() if name != form.task} if isinstance(key, dict) else {}
    if key != add_digest(form.task, content):
        remedy = "take the key.json that the pages were written with"
        raise InputError("not the key of pages, or altered since they were written", file=path, remedy=remedy)
    return key


def checksum(text: str) -> str:
    """FNV-1a, 64 bits, as 16 hex digits: it detects accidents and careless edits; it is not a signature."""
    value = 0xCBF29CE484222325
    for byte in text.encode("utf-8"):
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return f"{value:016x}"


def answer_checksum(form: Form, task: str, person: int, answer: Mapping) -> str:
    """Checksum of one answer, which binds it to its task and person; `questions.js` computes the same."""
    values = ["bad"] if answer.get("bad") else [answer.get(name, "") for name in form.values]
    return checksum("|".join(map(str, [task, person, answer[form.item], *values])))


def read_answers(path: str | Path, key: Mapping, form: Form) -> tuple[int, list[dict], list]:
    """(person, answers in the order of the page, log of the page); an unfinished page has fewer answers than items.

    Raises InputError for a forged or altered file, and for one without answers.
    """
    again = f"ask the {form.person} to export the page again"
    values = read_json(path)
    if not isinstance(values, dict) or not {form.task, form.person, "answers"} <= values.keys():
        raise InputError("not an answer file of these pages", file=path, remedy=again)
    if values[form.task] != key[form.task]:
        raise InputError(
            f"belongs to {form.task} {values[form.task]}, not to {key[form.task]}",
            file=path,
            remedy="import it with the key.json of its own pages",
        )
    person, answers, log = values[form.person], values["answers"], values.get("log")
    if type(person) is not int or not 1 <= person <= len(form.shares(key)):
        raise InputError(f"there is no {form.person} {person!r}", file=path, remedy=again)
    numbers = form.shares(key)[person - 1]
    items = {item[form.item]: item for item in form.items(key)}
    earlier: set[int] = set()
    for answer in answers if isinstance(answers, list) else [None]:
        number: Any = answer.get(form.item) if isinstance(answer, dict) else None
        if not isinstance(answer, dict) or type(number) is not int or number not in numbers:
            raise InputError(f"{form.item} {number!r} is not one of {form.person} {person}", file=path, remedy=again)
        if number in earlier:
            raise InputError(f"{form.item} {number} is answered twice", file=path, remedy=again)
        if problem := form.problem(answer, items[number], key):
            raise InputError(f"{form.item} {number}: {problem}", file=path, remedy=again)
        if answer.get("check") != answer_checksum(form, key[form.task], person, answer):
            raise InputError(f"the answer to {form.item} {number} was edited after the export", file=path, remedy=again)
        earlier.add(number)
    if not earlier:
        raise InputError("holds no answer yet", file=path, remedy=f"leave it out, or {again}")
    return person, answers, log if isinstance(log, list) else []


class Collected(NamedTuple):
    """Answers and log rows of several answer files, each with its person, and the people with open items."""

    answers: list[dict]
    logs: list[dict]
    open: dict[int, list[int]]
    """Numbers of unanswered items, by person."""
    missing: list[int]
    """People without a file."""
    unfinished: list[int]
    """People whose file has only part of their answers."""


def collect(paths: Iterable[str | Path], key: Mapping, form: Form) -> Collected:
    """Collect the answers of all files. Raises InputError for a person with two files."""
    files: dict[int, object] = {}
    open_items = {person: sorted(share) for person, share in enumerate(form.shares(key), start=1)}
    answers, logs = [], []
    for path in paths:
        person, rows, log = read_answers(path, key, form)
        if person in files:
            raise InputError(
                f"{form.person} {person} is in {files[person]} already",
                file=path,
                remedy="import the later of the two files alone",
            )
        files[person] = path
        names = (form.item, *form.values, "bad")
        answers += [{form.person: person, **{name: row[name] for name in names if name in row}} for row in rows]
        logs += [{form.person: person, **row} for row in log if isinstance(row, dict)]
        done = {row[form.item] for row in rows}
        open_items[person] = [number for number in open_items[person] if number not in done]
    missing = [person for person in open_items if person not in files]
    open_items = {person: numbers for person, numbers in open_items.items() if numbers}
    return Collected(answers, logs, open_items, missing, [person for person in open_items if person in files])
