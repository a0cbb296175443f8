"""JSON schemas of the answers, for engines that can constrain what a model writes."""

import json

from verified.generation.further import FURTHER


def answer_schema(task: str, count: int) -> dict:
    """JSON schema of the answer to `task` with `count` items; `parsing.parse` reads what it describes."""
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


def structured_ending(task: str, count: int) -> str:
    """The sentence that ends a prompt whose answer is constrained, so that model and schema agree."""
    return f"Write the answer as one JSON object and nothing else: {json.dumps(_example(answer_schema(task, count)))}"


def _example(part: dict) -> object:
    """A value that stands for what a schema describes."""
    if "enum" in part:
        return " or ".join(part["enum"])
    if part["type"] == "object":
        return {name: _example(inner) for name, inner in part["properties"].items()}
    if part["type"] == "array":
        return [_example(part["items"])] * part["minItems"]
    return {"integer": 0, "number": 0.0}.get(part["type"], "...")


def _object(properties: dict) -> dict:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
