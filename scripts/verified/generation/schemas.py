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
    example = {
        name: ["..."] * count if part.get("type") == "array" else "..."
        for name, part in answer_schema(task, count)["properties"].items()
    }
    return f"Write the answer as one JSON object and nothing else: {json.dumps(example)}"


def _object(properties: dict) -> dict:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
