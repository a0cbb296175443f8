"""JSON schemas of the answers, for engines that can constrain what a model writes."""

import json
from functools import cache

from verified.lmm.task_registry import FURTHER


@cache
def answer_schema(task: str, count: int) -> dict:
    """JSON schema of the answer to `task` with `count` items; `parsing.parse` reads what it describes.

    Callers share one object and do not change it.
    """
    if task in FURTHER:
        return FURTHER[task].schema(count)
    text = {"type": "string", "minLength": 1}
    if task == "keyframe_description":
        return _object({"background": text, "objects attributes": text, "desc": text})
    if task == "answers":
        return _object(
            {"answers": {"type": "array", "items": text, "minItems": count, "maxItems": count}, "description": text}
        )
    return _object({str(number): text for number in range(1, count + 1)})


@cache
def structured_ending(task: str, count: int) -> str:
    """The sentence that ends a prompt whose answer is constrained, so that model and schema agree."""
    return f"Write the answer as one JSON object and nothing else: {json.dumps(_example(answer_schema(task, count)))}"


def _example(node: dict) -> object:
    """A value that stands for what a schema describes."""
    if "enum" in node:
        return " or ".join(node["enum"])
    if node["type"] == "object":
        return {name: _example(inner) for name, inner in node["properties"].items()}
    if node["type"] == "array":
        return [_example(node["items"])] * node["minItems"]
    return {"integer": 0, "number": 0.0}.get(node["type"], "...")


def _object(properties: dict) -> dict:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
