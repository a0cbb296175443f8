"""The table of keys, generated from the models."""

import json

from verified.config import config_model
from verified.config.generation import ALL_ROLES
from verified.config.json_schema import Node, options_of
from verified.io.jsonl import is_object

Row = tuple[str, str, str]
"""Key, default and meaning."""


def key_table() -> str:
    """Markdown table of every key with its default and meaning; keys that most roles share are listed once, under
    `ROLE`.
    """
    root = config_model().model_json_schema()
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
