"""The tasks of models: every prompt task in one form, a file for each stage.

A new task is a declaration here, in the file of its stage or a new one, and its prompt in the folder of prompts.
"""

import dataclasses
import json
from collections.abc import Callable
from functools import cache, partial

from verified.lmm.request import DemoAnswer, Parsed
from verified.lmm.thoughts import separate

TEXT = {"type": "string", "minLength": 1}
SAID = ("said",)
"""The optional slot of tasks about a moment: its speech, if known."""


@dataclasses.dataclass(frozen=True, eq=False)
class Task:
    """One task: the role that answers it, the slots of its prompt, and the parser of its answer."""

    name: str
    """Name of its prompt file too, and part of every key of the ledger; a stage outside the paper comes first, before
    a slash."""
    role: str
    """The model that answers: llm, image_lmm, video_lmm or speech."""
    slots: tuple[str, ...]
    read: Callable[[dict[str, str], str, int, bool], Parsed]
    """The parts of an answer without thoughts, from slots, text, the number of items wanted and whether the text was
    cut at the token limit: a part that was cut is not trusted. Missing parts, including refused candidates, are
    requested again while attempts remain.
    """
    schema: Callable[[int], dict]
    """JSON schema of an answer with so many items; `read` parses its instances."""
    tokens_out: int
    """Length of an ordinary answer, for quotes."""
    example: Callable[[int, str], Parsed]
    """Parts of an ordinary answer, for quotes: with so many items, made unique by a text of 16 characters."""
    followed: bool = False
    """Whether its answers are part of other tasks' prompts: in a quote, each then needs a unique example."""
    optional: tuple[str, ...] = ()
    """Slots that a prompt may have and need not."""
    prompted: bool = True
    """Whether it has a prompt; a recogniser of speech is given sound alone."""
    settings: tuple[str, ...] = ()
    """More keys of `generation` that decide the call."""
    always_json: bool = False
    """The prompt asks for JSON whether or not the answer is constrained to it."""
    needs_times: bool = False
    """Whether seconds of a clip are in its prompt or its answer, so that the model must know the times of frames."""
    demo: DemoAnswer | None = None
    """Answers for the demo's engine, which itself knows the paper's tasks alone."""

    def __post_init__(self):
        if self.prompted:  # models that answer, with or without thoughts
            object.__setattr__(self, "read", partial(_read_answer, self.read))


def _read_answer(read: Callable, slots: dict[str, str], text: str, count: int, cut: bool) -> Parsed:
    return read(slots, separate(text, cut).answer, count, cut)


@cache
def structured_form(task: Task, count: int) -> tuple[dict, str]:
    """The schema of a constrained answer, and the paragraph that ends its prompt, so that model and schema agree.

    Callers share one schema and do not change it.
    """
    schema = task.schema(count)
    return schema, f"\n\nWrite the answer as one JSON object and nothing else: {json.dumps(_example_value(schema))}"


def _example_value(node: dict) -> object:
    """An example value that satisfies a schema."""
    if "enum" in node:
        return " or ".join(node["enum"])
    if node["type"] == "object":
        return {name: _example_value(inner) for name, inner in node["properties"].items()}
    if node["type"] == "array":
        return [_example_value(node["items"])] * node["minItems"]
    return {"integer": 0, "number": 0.0}.get(node["type"], "...")


def object_schema(properties: dict[str, dict]) -> dict:
    """The schema of an object with these properties, all of them and no others."""
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def words(tokens: int, identity: str) -> str:
    """A text of so many tokens that ends in `identity`."""
    return "word_" * (tokens - len(identity) // 5) + identity
