"""Parts of speech of annotation files, each list of captions tagged once for all configurations (see `cache`)."""

import logging
from collections.abc import Iterable
from functools import partial

from verified.io.jsonl import read_json, write_json
from verified.runtime.digest import modules_digest
from verified.runtime.project import versions
from verified.statistics.cache import keep, place
from verified.statistics.language import averages, tally

log = logging.getLogger("verified")


def measure_lists(lists: Iterable[tuple[str, list[str]]], tagger, processes: int = 1) -> dict:
    """`averages` over all captions of `lists`, which are (name for the log, captions)."""
    decided_by = {
        "code": modules_digest("statistics.language"),
        "model": [tagger.meta[name] for name in ("lang", "name", "version")],
        "parts": tagger.pipe_names,
        "libraries": versions("numpy", "spacy", "thinc"),
    }
    tallies = []
    for name, captions in lists:
        path = place("words", ".json", texts=captions, **decided_by)
        made = keep(path, partial(tally, captions, tagger, processes, f"language, {name}"), write_json)
        log.info("%s: %d captions %s", name, len(captions), "tagged" if made else f"read from {path}")
        tallies.append(read_json(path))
        if others := tallies[-1]["other_scripts"]:
            log.warning("%s: %d captions are not in Latin script: the tagger counts nothing of them", name, others)
    return averages(tallies)
