"""Navigation of the JSON schemas that pydantic writes, and the table of keys in them."""

import json
from typing import Any

from verified.config.generation import ALL_ROLES
from verified.io.jsonl import is_object

Node = dict[str, Any]
"""A JSON schema, or a part of one."""
Row = tuple[str, str, str]
"""Key, default and meaning."""


def keys_at(root: Node, path: list[int | str]) -> list[Node]:
    """The keys of the section at `path` in the schema `root`, or of each of its variants if it has any."""
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
    return [option.get("properties", {}) for node in nodes for option in options_of(node, root)]


def options_of(node: Node, root: Node) -> list[Node]:
    """The object schemas that `node` may refer to, references resolved."""
    if "$ref" in node:
        return options_of(root["$defs"][node["$ref"].rsplit("/", 1)[1]], root)
    variants = node.get("oneOf") or node.get("anyOf") or node.get("allOf")
    return [option for variant in variants for option in options_of(variant, root)] if variants else [node]


def key_table(root: Node) -> str:
    """Markdown table of every key with its default and meaning; keys that most roles share are listed once, under
    `ROLE`.
    """
    rows: list[Row] = []
    _describe(root, root, "", rows)
    rows = _shared_by_roles(rows)
    lines = [f"| `{name}` | `{default}` | {meaning} |" for name, default, meaning in rows]
    return "\n".join(["| key | default | meaning |", "|---|---|---|", *lines]) + "\n"


def _shared_by_roles(rows: list[Row]) -> list[Row]:
    """Replace a row that at least half of the roles have in common by one of `ROLE`."""
    shared: dict[Row, list[Row]] = {}
    for row in rows:
        section, _, rest = row[0].partition(".")
        role, _, key = rest.partition(".")
        name = f"{section}.ROLE.{key}" if section == "generation" and role in ALL_ROLES else row[0]
        shared.setdefault((name, *row[1:]), []).append(row)
    return [row for common, same in shared.items() for row in ([common] if len(same) * 2 >= len(ALL_ROLES) else same)]


def _describe(node: Node, root: Node, prefix: str, rows: list[Row]) -> None:
    for key, child in node.get("properties", {}).items():
        name = f"{prefix}{key}"
        options = [option for option in options_of(child, root) if "properties" in option]
        extra = child.get("additionalProperties")
        if options:
            for option in options:
                kind = option["properties"].get("kind", {}).get("const")
                fields = {key: field for key, field in option["properties"].items() if "const" not in field}
                _describe({**option, "properties": fields}, root, f"{name}({kind})." if kind else f"{name}.", rows)
        elif is_object(extra) and "$ref" in extra:
            for option in options_of(extra, root):
                _describe(option, root, f"{name}.NAME.", rows)
        else:
            default = "required" if key in node.get("required", ()) else json.dumps(child.get("default", {}))
            meaning = " ".join(child.get("description", "").split()).replace("|", "\\|")
            rows.append((name, default, meaning))
