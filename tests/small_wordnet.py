"""A WordNet of a few synsets in the format of WordNet 3.0's database files (see its manual, wndb(5))."""

import zipfile
from pathlib import Path

SYNSETS = {
    "noun": (("car", "auto", "automobile"), ("dog", "domestic_dog"), ("road", "route")),
    "verb": (("run", "scarper"),),
    "adj": (("quick", "fast"),),
    "adv": (("today", "nowadays"),),
}
EXCEPTIONS = {"noun": "mice mouse\n", "verb": "ran run\n", "adj": "", "adv": ""}
LETTERS = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}


def write_wordnet(folder: Path) -> Path:
    """The database files that METEOR needs; returns the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for kind, synsets in SYNSETS.items():
        letter, data, index = LETTERS[kind], "  1 a head of the file\n", ["  1 a head of the file\n"]
        for words in synsets:
            offset = f"{len(data):08d}"
            listed = " ".join(f"{word} 0" for word in words)
            frames = "01 + 01 00 " if kind == "verb" else ""
            data += f"{offset} 00 {letter} {len(words):02x} {listed} 000 {frames}| what it means\n"
            index += [f"{word} {letter} 1 0 1 0 {offset}\n" for word in words]
        (folder / f"data.{kind}").write_text(data)
        (folder / f"index.{kind}").write_text("".join([index[0], *sorted(index[1:])]))
        (folder / f"{kind}.exc").write_text(EXCEPTIONS[kind])
    return folder


def pack_wordnet(folder: Path, archive: Path) -> Path:
    """The same files as NLTK packs them, with one that is not wanted; returns the archive."""
    with zipfile.ZipFile(archive, "w") as packed:
        for path in sorted(folder.iterdir()):
            packed.write(path, f"wordnet/{path.name}")
        packed.writestr("wordnet/../../outside", "not wanted")
    return archive
