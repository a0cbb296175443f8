"""Navigation of the JSON schemas that pydantic writes."""

from typing import Any

Node = dict[str, Any]
"""A JSON schema, or a part of one."""


def properties_at(root: Node, path: list[int | str]) -> list[str]:
    """Names of the valid keys of the section at `path` in the schema `root`; of all its variants if it has any."""
    return sorted({key for section in sections_at(root, path) for key in section.get("properties", {})})


def kinds_with(root: Node, path: list[int | str]) -> list[str]:
    """Kinds of the variants of a section in the schema `root` that have the key at the end of `path`."""
    variants = [section.get("properties", {}) for section in sections_at(root, path[:-1])]
    return [str(keys["kind"]["const"]) for keys in variants if path[-1] in keys and "const" in keys.get("kind", {})]


def sections_at(root: Node, path: list[int | str]) -> list[Node]:
    """The section at `path` in the schema `root`, or all its variants if it has any."""
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
    return [option for node in nodes for option in options_of(node, root)]


def options_of(node: Node, root: Node) -> list[Node]:
    """The object schemas that `node` may refer to, references resolved."""
    if "$ref" in node:
        return options_of(root["$defs"][node["$ref"].rsplit("/", 1)[1]], root)
    variants = node.get("oneOf") or node.get("anyOf") or node.get("allOf")
    return [option for variant in variants for option in options_of(variant, root)] if variants else [node]
