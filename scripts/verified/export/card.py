"""The card of an exported folder: README.md for people, and manifest.json with all checksums for programs."""

from collections.abc import Mapping
from pathlib import Path

from verified.export.collection import CAPTIONS, Collection, evaluative_role
from verified.io.files import file_digest, write_text
from verified.io.jsonl import write_json

COLUMN_TABLE = """| column | meaning |
|---|---|
| `caption_id` | number of the caption, unique in the whole collection |
| `desc_id`, `rank` | number of the moment, and of the caption among its captions (1 is the first) |
| `video`, `start`, `end`, `duration` | where the moment is; seconds, the last of the video |
| `cog_desc` | the coarse caption it started from |
| `fig_desc`, `fig_desc_type` | the fine-grained caption; it adds statics or dynamics, or is the coarse one |
| `fig_desc_score` | the evaluator's confidence (of an edited or coarse caption: that of the caption it replaces) |
| `lineage` | key of the request that wrote it, or the caption that it replaces |
| `decision`, `reviewers`, `reviewed` | decision of people, who (a number or a name), and when (UTC); or nothing |"""


def write_cards(folder: Path, form: str, description: str, collection: Collection, head: str = "") -> None:
    """Write README.md (`head`, the contents by `about`, the `description` of the form) and manifest.json, which lists
    every file below `folder` with size and SHA-256.
    """
    files = [
        {"path": path.relative_to(folder).as_posix(), "bytes": path.stat().st_size, "sha256": file_digest(path)}
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    ]
    about = collection.about
    manifest = {
        **{key: about[key] for key in ("title", "version", "licence", "config", "name", "creators", "url")},
        "form": form,
        **({"warning": about["warning"]} if about.get("warning") else {}),
        **({"statements": dict(about["statements"])} if about.get("statements") else {}),
        "splits": collection.counts(),
        "models": dict(about["models"]),
        "prompts": about["prompts"],
        "files": files,
    }
    write_text(folder / "README.md", head + _readme(about, description, manifest))
    write_json(folder / "manifest.json", manifest)


_TITLES = {
    "limitations": "Limitations",
    "biases": "Biases",
    "sensitive_information": "Personal and sensitive information",
    "use_cases": "Uses",
    "social_impact": "Social impact",
}


def _readme(about: Mapping, description: str, manifest: Mapping) -> str:
    facts = [f"- Licence: {about['licence']}", f"- Version: {about['version']}"]
    facts += [f"- Published by: {', '.join(about['creators'])}"] if about["creators"] else []
    facts += [f"- Page: {about['url']}"] if about["url"] else []
    facts += [f"- {role}: {model}" for role, model in about["models"].items()]
    if about["prompts"]:
        facts.append(f"- Prompts: {about['prompts']['name']} (SHA-256 begins with {about['prompts']['sha256']})")
    facts.append(f"- Made by configuration {about['config']}, data set {about['name']}")
    said = about.get("statements", {})
    statements = [line for key, text in said.items() for line in (f"**{_TITLES[key]}.** {text}", "")]
    splits = [f"| {split} | {' | '.join(map(str, n.values()))} |" for split, n in manifest["splits"].items()]
    counted = list(next(iter(manifest["splits"].values()), {}))
    files = [f"| {file['path']} | {file['bytes']} | `{file['sha256']}` |" for file in manifest["files"]]
    return "\n".join(
        [
            f"# {about['title']}",
            "",
            f"{about.get('holds', CAPTIONS)} {description}",
            "",
            *([f"**{about['warning']}**", ""] if about.get("warning") else []),
            *facts,
            "",
            f"**Evaluative role.** {evaluative_role(about)}",
            "",
            *statements,
            f"| split | {' | '.join(counted)} |",
            "|---" * (1 + len(counted)) + "|",
            *splits,
            "",
            "| file | bytes | SHA-256 |",
            "|---|---|---|",
            *files,
            "",
        ]
    )
