"""Hook of mkdocs: README.md of each extension becomes a page of the site, `NAME.md`, in a menu of its own."""

import re
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
PAGES = sorted(PROJECT.glob("extensions/*/README.md"))


def on_config(config):
    config.nav.append({"Extensions": [f"{page.parent.name}.md" for page in PAGES]})
    return config


def on_files(files, config):
    from mkdocs.structure.files import File

    for page in PAGES:
        text = re.sub(r"\]\(\.\./\.\./docs/", "](", page.read_text(encoding="utf-8"))
        files.append(File.generated(config, f"{page.parent.name}.md", content=_among_pages(text)))
    return files


def on_page_markdown(markdown, **_):
    return _among_pages(markdown)


def _among_pages(text):
    """Links to extensions as links between pages; the link's words alone, where the extension is not here."""
    there = {page.parent.name for page in PAGES}

    def link(match):
        words, name, anchor = match.groups()
        return f"[{words}]({name}.md{anchor})" if name in there else words

    return re.sub(r"\[([^\]]+)\]\(\.\./(?:\.\./)?extensions/(\w+)/README\.md([^)]*)\)", link, text)
