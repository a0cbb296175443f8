"""Free answers, given without options (supplement, D.2): which option each means, so that they can be scored.

The document prints what five models say of one question and judges nothing. Here the language model of the role `llm`
reads each answer beside its four options, without the video and without knowing which option is right.
"""

from collections.abc import Iterable, Mapping

from verified.benchmark.rextime.generate import option_lines
from verified.lmm.session import Session
from verified.lmm.tasks.rextime import READING


def read_letters(
    questions: Iterable[Mapping], texts: Mapping[str, str | None], session: Session
) -> dict[str, str | None]:
    """The letter of the option that the answer to each question means, by id; ``none`` where it means none of them.

    `texts` are the answers by id. None if there is no answer, or the reader's verdict could not be read.
    """
    given = [(row, text) for row in questions if (text := texts.get(row["qid"]))]
    calls = [
        session.call(READING, {"question": row["query"], "options": option_lines(row["options"]), "answer": text})
        for row, text in given
    ]
    outcomes = session.ask(READING, calls, len(calls))
    return {row["qid"]: outcome.parsed.sections.get("option") for (row, _), outcome in zip(given, outcomes)}
