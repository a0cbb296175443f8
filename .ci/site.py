"""Hook of mkdocs: README.md of each extension becomes a page of the site, `NAME.md`, in a menu of its own."""

import re
from pathlib import Path

from mkdocs.structure.files import File

PROJECT = Path(__file__).resolve().parents[1]
PAGES = sorted(PROJECT.glob("extensions/*/README.md"))


def on_config(config):
    config.nav.append({"Extensions": [f"{page.parent.name}.md" for page in PAGES]})
    return config


def on_files(files, config):
    for page in PAGES:
        text = re.sub(r"\]\(\.\./\.\./docs/", "](", page.read_text(encoding="utf-8"))
        files.append(File.generated(config, f"{page.parent.name}.md", content=_among_pages(text)))
    return files


def on_page_markdown(markdown, **_):
    return _among_pages(markdown)


def _among_pages(text):
    return re.sub(r"\]\(\.\./(?:\.\./)?extensions/(\w+)/README\.md", r"](\1.md", text)
