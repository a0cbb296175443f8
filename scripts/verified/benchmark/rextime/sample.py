"""A part of given questions as a test of its own, such as the mini test of the supplement (section D.3).

The mini test has 100 questions of each kind, drawn from the test set; its ids were not released. So a sample is drawn
here by seed and id, or listed in a file.
"""

from collections import defaultdict
from pathlib import Path

from verified.benchmark.rextime.rows import Question
from verified.benchmark.submissions import list_some
from verified.config.rextime import ReleasedQuestions
from verified.errors import InputError
from verified.runtime.seeds import derive_seed


def choose(questions: list[Question], given: ReleasedQuestions, seed: int) -> list[Question]:
    """The questions of a test, in the order of the file: all, or the sample that `given` describes.

    Raises InputError for a question without a kind, a kind with too few questions, and a listed id that is unknown.
    """
    chosen = {question.qid for question in questions}
    if given.only:
        chosen = _listed(given.only, chosen, given.questions)
    if given.per_kind:
        listed = [question for question in questions if question.qid in chosen]
        chosen = _drawn(listed, given.per_kind, given.questions, seed)
    return [question for question in questions if question.qid in chosen]


def _listed(file: str, known: set[str], source: str) -> set[str]:
    if not Path(file).is_file():
        raise InputError("no such file", file=file, remedy="name a text file with one qid a line")
    listed = {line.strip() for line in Path(file).read_text(encoding="utf-8-sig").splitlines() if line.strip()}
    if unknown := sorted(listed - known):
        raise InputError(f"ids that {source} does not have: {list_some(unknown)}", file=file, remedy="correct the list")
    if not listed:
        raise InputError("lists no id", file=file, remedy="name one qid a line")
    return listed


def _drawn(questions: list[Question], per_kind: int, source: str, seed: int) -> set[str]:
    kinds: dict[str, list[str]] = defaultdict(list)
    for question in questions:
        if question.kind is None:
            raise InputError(
                f"question {question.qid} names no kind, and the test takes {per_kind} of each",
                file=source,
                remedy="use the file with the key category (or kind), or list the ids in a file (`only`)",
            )
        kinds[question.kind].append(question.qid)
    if few := [f"{kind} has {len(ids)}" for kind, ids in sorted(kinds.items()) if len(ids) < per_kind]:
        remedy = f"set per_kind to at most {min(map(len, kinds.values()))}"
        raise InputError(f"too few questions for {per_kind} of each kind: {', '.join(few)}", file=source, remedy=remedy)
    drawn = (sorted(ids, key=lambda qid: derive_seed(seed, "mini test", qid))[:per_kind] for ids in kinds.values())
    return {qid for ids in drawn for qid in ids}
