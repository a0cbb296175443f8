"""The JSON schema and the table of keys, both generated from the models."""

import json
from typing import Any

from verified.config import Config
from verified.io.jsonl import is_object

Node = dict[str, Any]
"""A JSON schema, or a part of one."""


def schema() -> Node:
    """JSON schema (draft 2020-12) of the configuration."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **Config.model_json_schema()}


def properties_at(path: list[int | str]) -> list[str]:
    """Names of the valid keys of the section at `path` (a list of keys); of all variants where there are several."""
    root = Config.model_json_schema()
    nodes = [root]
    for name in path:
        matching: list[Node] = []
        for node in nodes:
            for option in _options(node, root):
                if name in option.get("properties", {}):
                    matching.append(option["properties"][name])
                elif isinstance(option.get("additionalProperties"), dict):
                    matching.append(option["additionalProperties"])
        nodes = matching
    return sorted({key for node in nodes for option in _options(node, root) for key in option.get("properties", {})})


def _options(node: Node, root: Node) -> list[Node]:
    """The object schemas that `node` may refer to, references resolved."""
    if "$ref" in node:
        return _options(root["$defs"][node["$ref"].rsplit("/", 1)[1]], root)
    variants = node.get("oneOf") or node.get("anyOf") or node.get("allOf")
    return [option for variant in variants for option in _options(variant, root)] if variants else [node]


def key_table() -> str:
    """Markdown table of every key with its default and meaning."""
    root = Config.model_json_schema()
    lines = ["| key | default | meaning |", "|---|---|---|"]
    _describe(root, root, "", lines)
    return "\n".join(lines) + "\n"


def _describe(node: Node, root: Node, prefix: str, lines: list[str]) -> None:
    for key, child in node.get("properties", {}).items():
        name = f"{prefix}{key}"
        options = [option for option in _options(child, root) if "properties" in option]
        extra = child.get("additionalProperties")
        if options:
            for option in options:
                kind = option["properties"].get("kind", {}).get("const")
                _describe(option, root, f"{name}.", lines) if kind is None else _describe(
                    {"properties": {k: v for k, v in option["properties"].items() if k != "kind"}},
                    root,
                    f"{name}({kind}).",
                    lines,
                )
        elif is_object(extra) and "$ref" in extra:
            for option in _options(extra, root):
                _describe(option, root, f"{name}.NAME.", lines)
        else:
            default = json.dumps(child["default"]) if "default" in child else "required"
            meaning = " ".join(child.get("description", "").split()).replace("|", "\\|")
            lines.append(f"| `{name}` | `{default}` | {meaning} |")
