"""Questions on the captions of a release, from their text, times and scores alone; no video is looked at.

Captions come in FIG's form, one file a split; files of one folder are the splits of one data set. A finding flags
captions out of those that it applies to (`Finding.scope`), with the words that it rests on.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from verified.annotations.lint import caption_findings
from verified.benchmark.intervals import mean_interval, share_interval
from verified.config.model import Statistics
from verified.errors import InputError
from verified.io.characters import is_latin, length_in_words, words_of
from verified.io.fig import read_fig
from verified.io.text_tables import read_csv
from verified.lmm.refusal import same
from verified.released.collections import moments_of
from verified.runtime.seeds import generator
from verified.statistics.clustering import dbscan, unit
from verified.tables.table import Estimate, Table, Value
from verified_lab.audit.checks import alike, leaks, outside
from verified_lab.audit.queries import Audited, Vectors, of_annotations
from verified_lab.config import Audit

QUESTIONS = {
    "form": "form of the fine captions",
    "alike": "captions that fit several moments",
    "splits": "captions in two splits",
    "spans": "spans outside their video",
    "types": "words that the fine caption adds",
    "lost": "words of the coarse caption that the fine one lacks",
    "scores": "confidence scores",
}
TALK = ("speaks_of_time", "no_answer", "thinks_aloud", "speaks_of_frames", "speaks_of_caption", "speaks_of_prompt")
"""Findings of the lint that are counted one by one; its others are `other_lint`."""
SAID = {
    "hedges": re.compile(
        r"\b(?:appear(?:s|ed|ing)? (?:to|like)|seem(?:s|ed|ing)? (?:to|as|like)|what (?:appears?|seems?|looks)"
        r"|seemingly|apparently|possibly|perhaps|maybe|likely|probably|presumably|potentially|(?:might|may) (?:be|have)"
        r"|could be|suggest(?:s|ing)|indicating|implying|as if)\b",
        re.I,
    ),
    "speaks_of_camera": re.compile(r"\bthe camera\b", re.I),
    "speaks_of_video": re.compile(r"\b(?:the|this) (?:video|clip|footage|scene|shot|viewer|frame|sequence)\b", re.I),
}
"""Findings by words that the coarse caption does not use."""
CONTENT = dict.fromkeys(("NOUN", "PROPN", "ADJ", "NUM"), "thing") | dict.fromkeys(("VERB", "ADV"), "action")
"""Word classes that name things and their properties, and those that name actions and their manner."""
STATIVE = frozenset(
    words_of(
        "wear dress feature contain surround seat visible focus background see show set color fill depict adorn"
        " decorate park light identify capture display have appear seem possibly likely already"
    )
)
"""Lemmas of any class that say how something looks, or that it is seen."""
ALIKE = tuple(
    frozenset(words_of(words))
    for words in (
        "person people man woman boy girl guy lady child kid kids baby someone somebody individual he she they his her"
        " him them their male female adult gentleman toddler human infant one another figure spectator themself"
        " themselves",
        "eat consume bite snack enjoy",
        "drink sip",
        "awaken awake wake",
        "put place set lay deposit throw toss drop",
        "take grab retrieve pick remove lift get",
        "look gaze glance watch observe peer stare view examine see",
        "walk stroll stride climb advance move step approach run pass enter",
        "turn switch flip illuminate",
        "talk speak converse conversation chat say",
        "sit seat",
        "stand rise get",
        "close shut",
        "laugh chuckle smile grin",
        "show appear emerge come display reveal visible arrive",
        "fridge refrigerator",
        "cup glass mug",
        "dish plate bowl",
        "sofa couch",
        "tv television",
        "clothe clothes clothing jacket shirt garment attire outfit",
        "picture photo photograph image",
    )
)
"""Words that one caption may use for the other's: no loss, and nothing new."""
FILLER = frozenset(words_of("see show appear come view frame video screen person people"))
"""Lemmas of coarse captions that say that something is seen, or only that somebody is there."""
HANGING = frozenset(words_of("a an the and or of with into from his their its to while as than"))
"""Words that do not end an English sentence, or seldom."""
NEAREST_ROWS = 1024
SHOWN_IDS = 2
SEED = 2024
CHECKED = ("finding", "split", "desc_id", "right")
"""Columns of the captions that were read."""


@dataclass(frozen=True)
class Caption:
    """One moment of a release."""

    dataset: str
    split: str
    number: int
    """Its row in the file, from 1."""
    row: Mapping[str, Any]

    @property
    def video(self) -> tuple[str, str]:
        """Key of its video."""
        return self.dataset, self.row["video"]


@dataclass(frozen=True)
class Finding:
    """Captions with one property, by their places, and the words that it rests on."""

    question: str
    """One of `QUESTIONS`."""
    name: str
    details: Mapping[int, str]
    scope: Sequence[int]
    """Places of all captions that it applies to."""


def read_release(files: Iterable[Path]) -> list[Caption]:
    """Captions of files in the order given. Raises InputError for a file that is not in FIG's form, and for two files
    of one name in one folder."""
    captions, places = [], set()
    for path in files:
        place = path.resolve()
        if place in places:
            raise InputError("is given twice", file=path, remedy="name each split once")
        places.add(place)
        captions += [
            Caption(place.parent.name, path.stem, number, row) for number, row in enumerate(read_fig(path), start=1)
        ]
    if not captions:
        raise InputError("no captions to audit", remedy="name files with fine captions (FIG JSON Lines)")
    return captions


def audit_captions(captions: Sequence[Caption], vectors: Vectors, tagger: Any) -> list[Finding]:
    """All findings. `tagger`: as of `statistics.language.load_tagger`."""
    everything = range(len(captions))
    fine = [caption.row["fig_desc"] for caption in captions]
    coarse = [caption.row["cog_desc"] for caption in captions]
    tagged = dict(zip(texts := sorted({*fine, *coarse}), tagger.pipe(texts, batch_size=256)))
    latin = [number for number in everything if is_latin(fine[number])]
    vector_of = dict(zip(texts := sorted(set(fine)), unit(vectors(texts))))
    units = np.stack([vector_of[text] for text in fine])
    findings = [
        *_form(fine, coarse, [tagged[text] for text in fine], latin, tagger.Defaults.stop_words),
        *_by_dataset(captions, lambda places: _alike(captions, places, units, vector_of)),
        *_by_dataset(captions, lambda places: _splits(captions, places, units)),
        *_by_dataset(captions, lambda places: _spans(captions, places)),
        *_words([tagged[text] for text in fine], [tagged[text] for text in coarse], latin),
    ]
    return [*findings, *_by_dataset(captions, lambda places: _scores(captions, places))]


def _by_dataset(captions: Sequence[Caption], find: Callable[[list[int]], Iterable[Finding]]) -> Iterator[Finding]:
    """Findings of each data set for itself, put together."""
    places: dict[str, list[int]] = defaultdict(list)
    for number, caption in enumerate(captions):
        places[caption.dataset].append(number)
    parts: dict[tuple[str, str], list[Finding]] = defaultdict(list)
    for own in places.values():
        for finding in find(own):
            parts[finding.question, finding.name].append(finding)
    for (question, name), several in parts.items():
        details = {number: words for finding in several for number, words in finding.details.items()}
        yield Finding(question, name, details, [number for finding in several for number in finding.scope])


def _form(
    fine: Sequence[str], coarse: Sequence[str], tagged: Sequence[Any], latin: Sequence[int], common: set[str]
) -> Iterator[Finding]:
    details: dict[str, dict[int, str]] = {name: {} for name in (*TALK, "other_lint", *SAID)}
    for number, (caption, other) in enumerate(zip(fine, coarse)):
        for check, detail in caption_findings(caption, other):
            words = detail.removesuffix(f" in: {caption}") if check in TALK else check
            details[check if check in TALK else "other_lint"].setdefault(number, words)
        for name, pattern in SAID.items():
            said = [match[0] for match in pattern.finditer(caption)]
            if said := [words for words in said if words.split()[-1].lower() not in other.lower()]:
                details[name][number] = said[0]
    details["cut"], details["no_common_word"] = {}, {}
    for number, (caption, document) in enumerate(zip(fine, tagged)):
        if not is_latin(caption):
            details["no_common_word"][number] = "script"
            continue
        words = [token for token in document if not token.is_space]
        last = next((token for token in reversed(words) if token.is_alpha), words[-1])
        if last.lower_ in HANGING or words[-1].text == ",":
            details["cut"][number] = last.text
        if length_in_words(caption) >= 6 and not common & {token.lower_ for token in words}:
            details["no_common_word"][number] = ""
    for name, flagged in details.items():
        yield Finding("form", name, flagged, latin if name == "cut" else range(len(fine)))


def _audited(captions: Sequence[Caption], places: Iterable[int]) -> list[Audited]:
    """Captions as queries, whose ids are their places."""
    return of_annotations(
        {**captions[number].row, "split": captions[number].split, "desc_id": number} for number in places
    )


def _alike(
    captions: Sequence[Caption], places: list[int], units: np.ndarray, vector_of: Mapping[str, np.ndarray]
) -> Iterator[Finding]:
    limits, audited = Audit(), _audited(captions, places)
    checks: dict[str, dict[int, str]] = {"repeated": {}, "ambiguous": {}}
    near = alike(
        audited, lambda texts: np.stack([vector_of[text] for text in texts]), limits.distance, limits.same_span
    )
    for finding in near:
        twin = re.match(r"query (\d+)", finding.detail)
        checks[finding.check][int(finding.id)] = f"as {captions[int(twin[1])].row['desc_id']}" if twin else ""
    settings = Statistics()
    labels = dbscan(units[places], settings.distance, settings.min_samples)
    classes: dict[int, list[int]] = defaultdict(list)
    for number, label in zip(places, labels):
        if label >= 0:
            classes[label].append(number)
    over = {
        number: f"class of {len(members)}, with {captions[members[members[0] == number]].row['desc_id']}"
        for members in classes.values()
        if len({captions[each].row["video"] for each in members}) > 1
        for number in members
    }
    yield from (Finding("alike", name, details, places) for name, details in checks.items())
    yield Finding("alike", "fits_other_videos", over, places)


def _splits(captions: Sequence[Caption], places: list[int], units: np.ndarray) -> Iterator[Finding]:
    splits = list(dict.fromkeys(captions[number].split for number in places))
    later = [number for number in places if captions[number].split != splits[0]]
    if not later:
        return
    details: dict[str, dict[int, str]] = {name: {} for name in ("same_words", "near", "same_coarse", "same_video")}
    for key, name in (("fig_desc", "same_words"), ("cog_desc", "same_coarse")):
        first: dict[str, int] = {}
        for number in places:
            caption = captions[number]
            twin = first.setdefault(same(caption.row[key]), number)
            if captions[twin].split != caption.split:
                details[name][number] = f"as {captions[twin].row['desc_id']}"
    for split in splits[1:]:
        earlier = [n for n in places if splits.index(captions[n].split) < splits.index(split)]
        own = [n for n in places if captions[n].split == split]
        for start in range(0, len(own), NEAREST_ROWS):
            part = own[start : start + NEAREST_ROWS]
            cosines = units[part] @ units[earlier].T
            for number, nearest, cosine in zip(part, cosines.argmax(axis=1), cosines.max(axis=1)):
                if 1 - cosine <= Audit().distance:
                    details["near"][number] = f"as {captions[earlier[nearest]].row['desc_id']}"
    for finding in leaks(_audited(captions, places), {}):
        details["same_video"][int(finding.id)] = finding.detail
    yield from (Finding("splits", name, flagged, later) for name, flagged in details.items())


def _spans(captions: Sequence[Caption], places: list[int]) -> Iterator[Finding]:
    audited = _audited(captions, places)
    for name, tolerance in (("outside", 0.0), ("outside_by_1_s", 1.0)):
        details = {int(finding.id): finding.detail for finding in outside(audited, tolerance)}
        yield Finding("spans", name, details, places)
    _, dropped, _ = moments_of((captions[number].row for number in places), "")
    for reason in ("no-length", "starts-after-the-end"):
        details = {places[row["row"] - 1]: reason for row in dropped if row["reason"] == reason}
        yield Finding("spans", reason.replace("-", "_"), details, places)


def _words(fine: Sequence[Any], coarse: Sequence[Any], latin: Sequence[int]) -> Iterator[Finding]:
    """Types by the word classes that a caption adds, and nouns and verbs of the coarse caption that it lacks."""
    kinds: dict[str, dict[int, str]] = {name: {} for name in ("things_only", "actions_only", "both", "neither")}
    lost: dict[str, dict[int, str]] = {"nouns": {}, "verbs": {}}
    has: dict[str, list[int]] = {"nouns": [], "verbs": []}
    for number in latin:
        base, said = (_lemmas(documents[number]) for documents in (coarse, fine))
        added: dict[str, list[str]] = {"thing": [], "action": []}
        for token in fine[number]:
            if token.pos_ in CONTENT and not _lemmas([token]) & (base | STATIVE | ALIKE[0]):
                added[CONTENT[token.pos_]].append(token.lemma_.lower())
        name = ("neither", "things_only", "actions_only", "both")[bool(added["thing"]) + 2 * bool(added["action"])]
        kinds[name][number] = ", ".join(dict.fromkeys(added["thing"] + added["action"]))
        for part, classes in (("nouns", ("NOUN", "PROPN")), ("verbs", ("VERB",))):
            words = [token for token in coarse[number] if token.pos_ in classes and token.lemma_.lower() not in FILLER]
            if not words:
                continue
            has[part].append(number)
            if gone := [token.lemma_.lower() for token in words if not _lemmas([token]) & said]:
                lost[part][number] = ", ".join(dict.fromkeys(gone))
    yield from (Finding("types", name, details, latin) for name, details in kinds.items())
    yield from (Finding("lost", name, details, has[name]) for name, details in lost.items())


def _lemmas(tokens: Iterable[Any]) -> set[str]:
    """Lemmas and words in lower case, with those that may stand for them."""
    words = {word for token in tokens for word in (token.lemma_.lower(), token.lower_)}
    return words.union(*(alike for alike in ALIKE if words & alike))


def lowest_tenth(captions: Sequence[Caption], places: Iterable[int]) -> set[int]:
    """The tenth of the captions with the lowest scores; ties at its edge are out."""
    ordered = sorted(captions[number].row["fig_desc_score"] for number in places)
    edge = ordered[len(ordered) // 10]
    return {number for number in places if captions[number].row["fig_desc_score"] < edge}


def _scores(captions: Sequence[Caption], places: list[int]) -> Iterator[Finding]:
    score = {number: float(captions[number].row["fig_desc_score"]) for number in places}
    for name, key in (("tie_in_file", lambda caption: caption.split), ("tie_in_video", lambda caption: caption.video)):
        counts = Counter((key(captions[number]), score[number]) for number in places)
        details = {number: str(score[number]) for number in places if counts[key(captions[number]), score[number]] > 1}
        yield Finding("scores", name, details, places)
    below = {number: str(score[number]) for number in places if score[number] < 0}
    yield Finding("scores", "below_0", below, places)


def tables(captions: Sequence[Caption], findings: Sequence[Finding], checked: Mapping[str, list[bool]]) -> list[Table]:
    """One table a question, and two of scores: by type, and the lowest tenth beside the others.

    `checked`: of each finding, whether the captions that were read were rightly flagged.
    """
    datasets = list(dict.fromkeys(caption.dataset for caption in captions))
    made = []
    for question, title in QUESTIONS.items():
        rows = []
        for finding in findings:
            if finding.question != question:
                continue
            shares, ids = [], []
            for name in datasets:
                shares.append(_share(captions, finding.details, _within(captions, finding.scope, name)))
                ids += [
                    captions[number].row["desc_id"] for number in _within(captions, finding.details, name)[:SHOWN_IDS]
                ]
            right = checked.get(f"{question}/{finding.name}")
            rows.append((finding.name, len(finding.details), *shares, ", ".join(map(str, ids)), _precision(right)))
        if rows:
            header = ("Finding", "Captions", *datasets, "Ids", "Rightly")
            made.append(Table(question, title, header, rows, (NOTE,)))
    return [*made, _distribution(captions, findings, datasets), _lowest(captions, findings, datasets)]


NOTE = (
    "In brackets: 95 % interval over videos, drawn with all of their captions. Rightly: right ones of those that were"
    " read."
)


def _within(captions: Sequence[Caption], places: Iterable[int], dataset: str) -> list[int]:
    return [number for number in sorted(places) if captions[number].dataset == dataset]


def _precision(right: Sequence[bool] | None) -> str | None:
    return f"{sum(right)} of {len(right)}" if right else None


def _share(captions: Sequence[Caption], numbers: Iterable[int], places: Sequence[int]) -> Value:
    if not places:
        return None
    flagged = set(numbers)
    hits, trials = Counter(), Counter()
    for number in places:
        trials[captions[number].video] += 1
        hits[captions[number].video] += number in flagged
    got = share_interval(np.array([hits[video] for video in trials]), np.array(list(trials.values())))
    value, low, high = float(got.value), float(got.low), float(got.high)
    return value if np.isnan(low) else Estimate(value, low, high, share=True)


def _distribution(captions: Sequence[Caption], findings: Sequence[Finding], datasets: Sequence[str]) -> Table:
    rows = []
    groups = [("all", range(len(captions)))] + [
        (finding.name, list(finding.details)) for finding in findings if finding.question == "types"
    ]
    for name in datasets:
        for kind, places in groups:
            own = _within(captions, places, name)
            if not own:
                continue
            scores = np.array([captions[number].row["fig_desc_score"] for number in own], np.float64)
            least, top = scores.min(), max(np.ptp(scores), 1e-9)
            got = mean_interval((scores - least)[None, :, None], [str(captions[n].video) for n in own], top)
            mean, low, high = (float(each[0]) + least for each in (got.value, got.low, got.high))
            cell = mean if np.isnan(low) else Estimate(mean, low, high)
            rows.append((name, kind, len(own), cell, *map(float, np.quantile(scores, (0.1, 0.5, 0.9)))))
    header = ("Data set", "Adds", "Captions", "Mean", "10 %", "Median", "90 %")
    return Table("score-types", "scores by the words that a caption adds", header, rows, (NOTE,))


def _lowest(captions: Sequence[Caption], findings: Sequence[Finding], datasets: Sequence[str]) -> Table:
    low = {
        number for name in datasets for number in lowest_tenth(captions, _within(captions, range(len(captions)), name))
    }
    rows = [
        (
            f"{finding.question}: {finding.name}",
            *(
                _share(captions, finding.details, [n for n in finding.scope if (n in low) == inside])
                for inside in (True, False)
            ),
        )
        for finding in findings
        if finding.question != "scores" and finding.details
    ]
    header = ("Finding", "Lowest tenth", "Others")
    return Table("lowest-tenth", "findings in the tenth of lowest scores of each data set", header, rows, (NOTE,))


def evidence(captions: Sequence[Caption], findings: Iterable[Finding]) -> list[dict]:
    """A row for each flagged caption, without its sentences: where it is, and the words that the finding rests on."""
    return [
        {
            "finding": f"{finding.question}/{finding.name}",
            "dataset": captions[number].dataset,
            "split": captions[number].split,
            "desc_id": captions[number].row["desc_id"],
            "row": captions[number].number,
            "words": words,
        }
        for finding in findings
        for number, words in sorted(finding.details.items())
    ]


def drawn(captions: Sequence[Caption], findings: Iterable[Finding], count: int) -> list[tuple[object, ...]]:
    """Header and rows of a csv to be read: `count` captions of each finding by a seeded draw, or all."""
    rows: list[tuple[object, ...]] = [(*CHECKED, "words", "coarse", "fine")]
    for finding in findings:
        name, places = f"{finding.question}/{finding.name}", sorted(finding.details)
        chosen = generator(SEED, "audit-captions", name).permutation(len(places))[:count]
        for number in sorted(places[place] for place in chosen):
            caption = captions[number]
            row = caption.row
            key = name, caption.split, row["desc_id"], ""
            rows.append((*key, finding.details[number].replace("\n", " "), row["cog_desc"], row["fig_desc"]))
    return rows


def read_checked(path: Path) -> dict[str, list[bool]]:
    """Verdicts of a reader by finding, from a csv as of `drawn`. Raises InputError for another one than yes or no."""
    verdicts: dict[str, list[bool]] = defaultdict(list)
    for number, row in read_csv(path, CHECKED):
        if row["right"] not in ("yes", "no"):
            raise InputError(f"right is {row['right']!r}", file=path, row=number, remedy="write yes or no")
        verdicts[row["finding"]].append(row["right"] == "yes")
    return verdicts
