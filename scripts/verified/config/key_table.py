"""The table of keys, generated from the models."""

import json

from verified.config import config_model
from verified.config.json_schema import Node, options_of
from verified.io.jsonl import is_object


def key_table() -> str:
    """Markdown table of every key with its default and meaning."""
    root = config_model().model_json_schema()
    lines = ["| key | default | meaning |", "|---|---|---|"]
    _describe(root, root, "", lines)
    return "\n".join(lines) + "\n"


def _describe(node: Node, root: Node, prefix: str, lines: list[str]) -> None:
    for key, child in node.get("properties", {}).items():
        name = f"{prefix}{key}"
        options = [option for option in options_of(child, root) if "properties" in option]
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
            for option in options_of(extra, root):
                _describe(option, root, f"{name}.NAME.", lines)
        else:
            default = json.dumps(child["default"]) if "default" in child else "required"
            meaning = " ".join(child.get("description", "").split()).replace("|", "\\|")
            lines.append(f"| `{name}` | `{default}` | {meaning} |")
