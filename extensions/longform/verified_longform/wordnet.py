"""WordNet 3.0 for METEOR's synonyms: NLTK's archive unpacked, or any folder with the same database files."""

import hashlib
import io
import os
import warnings
import zipfile
from functools import lru_cache
from pathlib import Path

from verified.errors import InputError

PUBLISHED = "published"
"""The setting that selects NLTK's archive, which a rule fetches by its checksum."""
PARTS = ("noun", "verb", "adj", "adv")
WORDNET_FILES = (
    *(f"{kind}.{suffix}" for kind in ("data", "index") for suffix in PARTS),
    *(f"{suffix}.exc" for suffix in PARTS),
)
"""The database files that METEOR needs."""
LEXICOGRAPHERS = 45
"""Number of lexicographer files of WordNet's synsets. NLTK's reader needs their names (`lexnames`), which METEOR never
uses and Debian's package lacks: numbers replace them here.
"""


def unpack_wordnet(archive: str | os.PathLike, folder: str | os.PathLike) -> None:
    """Write the database files of NLTK's ``wordnet.zip``, and its licence if it has one, to `folder`.

    Only members of known names are extracted. Raises InputError for a missing or unreadable one.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with zipfile.ZipFile(archive) as packed:
            members = set(packed.namelist())
            for name in (*WORDNET_FILES, "LICENSE"):
                if f"wordnet/{name}" in members:
                    (folder / name).write_bytes(packed.read(f"wordnet/{name}"))
                elif name in WORDNET_FILES:
                    raise InputError(f"wordnet/{name} is not in the archive", file=archive)
    except (OSError, zipfile.BadZipFile) as error:
        raise InputError(f"not a ZIP archive that can be read: {error}", file=archive) from None


def wordnet_digest(folder: str | os.PathLike) -> str:
    """SHA-256 over WordNet's database files. Raises InputError for a missing one."""
    digest = hashlib.sha256()
    for name in WORDNET_FILES:
        path = Path(folder, name)
        if not path.is_file():
            raise InputError(
                "WordNet's database file is not there",
                file=path,
                remedy="install Debian's wordnet-base and name /usr/share/wordnet in longform.wordnet, or write"
                f" `wordnet: {PUBLISHED}` to have NLTK's archive fetched",
            )
        digest.update(name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


@lru_cache(maxsize=1)
def load_wordnet(folder: str):
    """NLTK's reader of WordNet 3.0 in a plain folder. Raises InputError for files that it cannot read."""
    import nltk
    from nltk.corpus.reader.wordnet import WordNetCorpusReader, WordNetError

    class English(WordNetCorpusReader):
        def map_wn(self, version="wordnet"):
            return None  # the mapping of other languages' wordnets to this one, which needs a second copy of the data

        def open(self, file):
            if file == "lexnames":
                return io.StringIO("".join(f"{number:02d} {number:02d} 0\n" for number in range(LEXICOGRAPHERS)))
            return super().open(file)

    wordnet_digest(folder)
    folder = str(Path(folder).resolve())
    if folder not in nltk.data.path:  # the library opens files of folders that are listed there, and no others
        nltk.data.path.append(folder)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="The multilingual functions")
            wordnet = English(folder, None)
    except (OSError, ValueError, AssertionError, IndexError, WordNetError) as error:
        raise InputError(f"not a WordNet folder that NLTK reads: {error}", file=folder) from None
    for kind in PARTS:
        _check_offsets(Path(folder), kind)
    return wordnet


def _check_offsets(folder: Path, kind: str) -> None:
    """Raise InputError where the index of a part of speech names a synset that its data do not hold."""
    synsets, begin = set(), 0
    for line in (folder / f"data.{kind}").read_bytes().splitlines(keepends=True):
        if not line.startswith(b" "):
            synsets.add(b"%08d" % begin)
        begin += len(line)
    for number, line in enumerate((folder / f"index.{kind}").read_bytes().splitlines(), start=1):
        fields = [] if line.startswith(b" ") else line.split()
        if fields and not synsets.issuperset(fields[-int(fields[2]) :]):
            raise InputError(
                f"data.{kind} has no synset where index.{kind} says",
                file=folder / f"index.{kind}",
                row=number,
                remedy="unpack WordNet 3.0 again, whole",
            )
