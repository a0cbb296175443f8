"""Published coarse annotations of a test, and the list of them that a configuration names."""

import hashlib
from pathlib import Path

COLUMNS = "collection,split,version,format,place,url,sha256,bytes,rows,licence,access\n"


def publish(folder: Path, files: dict[tuple[str, str, str], str]) -> Path:
    """Files by (collection, split, format), and the list of them with their checksums."""
    folder.mkdir()
    lines = [COLUMNS]
    for (collection, split, form), text in files.items():
        file_name = f"{split}.{form}"
        (folder / file_name).write_text(text)
        digest = hashlib.sha256(text.encode()).hexdigest()
        rows = text.count("\n") if form == "charades-sta" else ""
        lines.append(f"{collection},{split},1,{form},{file_name},,{digest},{len(text)},{rows},none,form\n")
    (folder / "sources.csv").write_text("".join(lines))
    return folder / "sources.csv"
