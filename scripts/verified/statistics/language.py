"""Language statistics (Table 1): words, vocabulary and parts of speech, by spaCy.

The recipe that comes closest to the published figures: words are separated by whitespace; the vocabulary is the
distinct lower-cased lemmas of all tokens; nouns are NOUN and PROPN, verbs VERB (without auxiliaries), adjectives ADJ.
The recipe is for English: captions in another script than the Latin one are omitted and counted.
"""

import logging
from collections import Counter
from collections.abc import Iterable

from verified.errors import InputError
from verified.io.characters import is_latin
from verified.runtime.progress import track
from verified.runtime.project import check_installed

log = logging.getLogger("verified")

FORK_FROM = 5000  # distinct texts; below, starting more processes costs more than they save
COUNTED = ("words", "nouns", "verbs", "adjectives")
PARTS = {"NOUN": "nouns", "PROPN": "nouns", "VERB": "verbs", "ADJ": "adjectives"}


def load_tagger(spacy_model: str):
    """The spaCy pipeline `spacy_model` without the parts that lemmas and parts of speech do not need.

    Packages that carry a model add a suffix to its name (en_core_web_sm_…); such a package serves too. Raises
    InputError if none is installed.
    """
    import spacy

    installed = sorted(spacy.util.get_installed_models())
    name = next(
        (name for name in (spacy_model, *installed) if name in installed and f"{name}_".startswith(f"{spacy_model}_")),
        spacy_model,
    )
    check_installed(name.replace("_", "-"))
    try:
        return spacy.load(name, exclude=["parser", "ner", "senter"])
    except OSError:
        raise InputError(
            f"statistics.spacy_model = {spacy_model!r} is not installed",
            remedy=f"install the package that carries it; installed: {', '.join(installed) or 'none'}",
        ) from None


def tally(texts: Iterable[str], tagger, processes: int = 1, label: str = "language") -> dict:
    """``captions``, how many ``words, nouns, verbs, adjectives`` they have, the sorted ``vocabulary``, and the number
    of excluded captions in ``other_scripts``.

    Each distinct text is tagged once.
    """
    by_text = Counter(texts)
    counts = {text: times for text, times in by_text.items() if is_latin(text)}
    totals, vocabulary = Counter(captions=sum(counts.values())), set()
    pipe = tagger.pipe(list(counts), n_process=processes if len(counts) >= FORK_FROM else 1, batch_size=256)
    tagged = zip(counts, pipe, strict=True)
    for text, document in track(tagged, label, len(counts), "distinct captions"):
        times = counts[text]
        totals["words"] += times * len(text.split())
        for token in document:
            vocabulary.add(token.lemma_.lower())
            if token.pos_ in PARTS:
                totals[PARTS[token.pos_]] += times
    return {
        "captions": totals["captions"],
        "other_scripts": by_text.total() - totals["captions"],
        **{name: totals[name] for name in COUNTED},
        "vocabulary": sorted(vocabulary),
    }


def averages(tallies: Iterable[dict]) -> dict:
    """``captions``, the size of their joint vocabulary, ``vocab``, and ``words, nouns, verbs, adjectives`` per caption.

    Without any caption every figure is None.
    """
    tallies = list(tallies)
    captions = sum(entry["captions"] for entry in tallies)
    if not captions:
        return {"captions": 0, "vocab": None, **dict.fromkeys(COUNTED)}
    means = {name: sum(entry[name] for entry in tallies) / captions for name in COUNTED}
    return {"captions": captions, "vocab": len(set().union(*(entry["vocabulary"] for entry in tallies))), **means}


def measure_lists(lists: Iterable[tuple[str, list[str]]], tagger, processes: int = 1) -> dict:
    """`averages` over all captions of `lists`, which are (name for the log, captions)."""
    tallies = []
    for name, captions in lists:
        tallies.append(tally(captions, tagger, processes, f"language, {name}"))
        if others := tallies[-1]["other_scripts"]:
            log.warning("%s: %d captions are not in Latin script: the tagger counts nothing of them", name, others)
    return averages(tallies)
