"""Answer files as the pages export them: read, checked against the study's key, refused with the question's number."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeGuard

from verified.common.errors import InputError
from verified.common.jsonl import read_json
from verified.study.sample import GRADES

ALLOWED = {"statics": (0, 1), "dynamics": (0, 1), "accuracy": (1, 2, 3, 4, 5)}
AGAIN = "ask the participant to export the page again"


def checksum(text: str) -> str:
    """FNV-1a, 64 bits, as 16 hex digits: it finds accidents and careless edits; it is no signature."""
    value = 0xCBF29CE484222325
    for byte in text.encode("utf-8"):
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return f"{value:016x}"


def answer_checksum(study: str, participant: int, answer: Mapping) -> str:
    """Checksum of one answer, which binds it to its study and participant; `study.js` computes the same."""
    values = [study, participant, answer["question"], *(answer[name] for name in GRADES)]
    return checksum("|".join(map(str, values)))


def read_answers(path: str | Path, key: Mapping) -> tuple[int, list[dict]]:
    """(participant, answers in the order of the page). Raises InputError for a file that is not whole and genuine."""
    values = read_json(path)
    if not isinstance(values, dict) or not {"study", "participant", "answers"} <= values.keys():
        raise InputError("not an answer file of a study", file=path, remedy=AGAIN)
    if values["study"] != key["study"]:
        raise InputError(
            f"belongs to study {values['study']}, not to {key['study']}",
            file=path,
            remedy="import it with the study it was made for",
        )
    participant, answers = values["participant"], values["answers"]
    if not _whole(participant) or not 1 <= participant <= len(key["participants"]):
        raise InputError(f"the study has no participant {participant!r}", file=path, remedy=AGAIN)
    wanted = key["participants"][participant - 1]
    seen = set()
    for answer in answers if isinstance(answers, list) else [None]:
        number = answer.get("question") if isinstance(answer, dict) else None
        if not isinstance(answer, dict) or not _whole(number) or number not in wanted:
            raise InputError(f"question {number!r} is not one of participant {participant}", file=path, remedy=AGAIN)
        if number in seen:
            raise InputError(f"question {number} is answered twice", file=path, remedy=AGAIN)
        seen.add(number)
        _check(answer, number, path)
        if answer.get("check") != answer_checksum(key["study"], participant, answer):
            raise InputError(f"the answer to question {number} was edited after the export", file=path, remedy=AGAIN)
    unanswered = [number for number in wanted if number not in seen]
    if unanswered:
        raise InputError(f"no answer to question {', '.join(map(str, unanswered))}", file=path, remedy=AGAIN)
    return participant, answers


def _check(answer: Mapping, number: int, path: str | Path) -> None:
    for name in GRADES:
        value = answer.get(name)
        if value is None:
            raise InputError(f"question {number} lacks its answer on {name}", file=path, remedy=AGAIN)
        if not _whole(value) or value not in ALLOWED[name]:
            allowed = ", ".join(map(str, ALLOWED[name]))
            raise InputError(f"question {number}: {name} is {value!r}, not one of {allowed}", file=path, remedy=AGAIN)


def _whole(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def collect(paths: Iterable[str | Path], key: Mapping) -> tuple[list[dict], list[int]]:
    """Every answer with its participant, and who is missing. Raises InputError for a participant who is there twice."""
    files: dict[int, object] = {}
    rows = []
    for path in paths:
        participant, answers = read_answers(path, key)
        if participant in files:
            raise InputError(f"participant {participant} is in {files[participant]} already", file=path)
        files[participant] = path
        rows += [
            {"participant": participant, **{name: answer[name] for name in ("question", *GRADES)}} for answer in answers
        ]
    missing = [number for number in range(1, len(key["participants"]) + 1) if number not in files]
    return rows, missing
