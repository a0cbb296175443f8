"""Tasks of stages outside the paper: each stage registers what the machinery has to know of its own tasks.

The paper's eight tasks are defined across request.py, session.py, parsing.py and schemas.py; a further task brings all
of it in one place. Its name begins with its stage and a slash, ``rextime/options``, so its prompt file is in a
subfolder of the stage's name in the folder of prompts.
"""

import dataclasses
from collections.abc import Callable

from verified.lmm.outcome import Parsed


@dataclasses.dataclass(frozen=True)
class Task:
    """One task: the slots of its prompt, the role that answers, how its answer is read and what it looks like.

    `parse` takes slots, text, the number of items wanted and whether the answer was cut; `schema` gives the JSON
    schema of the answer for engines that can constrain. `tokens_out` is the length of an ordinary answer, and
    `stand_in` the parts of one, for quotes.
    """

    slots: tuple[str, ...]
    role: str
    parse: Callable[[dict[str, str], str, int, bool], Parsed]
    schema: Callable[[int], dict]
    tokens_out: int
    stand_in: Parsed


FURTHER: dict[str, Task] = {}


def register(tasks: dict[str, Task]) -> None:
    """Make tasks known under their names; a module does so when it is imported."""
    FURTHER.update(tasks)
