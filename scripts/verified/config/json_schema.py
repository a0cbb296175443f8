"""Navigation of the JSON schemas that pydantic writes."""

from typing import Any

Node = dict[str, Any]
"""A JSON schema, or a part of one."""


def properties_at(root: Node, path: list[int | str]) -> list[str]:
    """Names of the valid keys of the section at `path` in the schema `root`; of all its variants if it has any."""
    nodes = [root]
    for name in path:
        matching: list[Node] = []
        for node in nodes:
            for option in options_of(node, root):
                if name in option.get("properties", {}):
                    matching.append(option["properties"][name])
                elif isinstance(option.get("additionalProperties"), dict):
                    matching.append(option["additionalProperties"])
        nodes = matching
    return sorted({key for node in nodes for option in options_of(node, root) for key in option.get("properties", {})})


def options_of(node: Node, root: Node) -> list[Node]:
    """The object schemas that `node` may refer to, references resolved."""
    if "$ref" in node:
        return options_of(root["$defs"][node["$ref"].rsplit("/", 1)[1]], root)
    variants = node.get("oneOf") or node.get("anyOf") or node.get("allOf")
    return [option for variant in variants for option in options_of(variant, root)] if variants else [node]
