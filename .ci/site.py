"""Hook of mkdocs: README.md of each extension becomes a page of the site, `NAME.md`, beside the pages of docs/."""

import re
from pathlib import Path

from mkdocs.structure.files import File

PROJECT = Path(__file__).resolve().parents[1]


def on_files(files, config):
    for page in sorted(PROJECT.glob("extensions/*/README.md")):
        text = re.sub(r"\]\(\.\./\.\./docs/", "](", page.read_text(encoding="utf-8"))
        files.append(File.generated(config, f"{page.parent.name}.md", content=_among_pages(text)))
    return files


def on_page_markdown(markdown, **_):
    return _among_pages(markdown)


def _among_pages(text):
    return re.sub(r"\]\(\.\./(?:\.\./)?extensions/(\w+)/README\.md", r"](\1.md", text)
