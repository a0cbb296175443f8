"""Hand out moments to reviewers and store their decisions on disk at once, so that a killed server loses nothing.

A folder holds ``people.json`` (names and tokens; readable by its owner alone), ``decisions.jsonl`` (decisions, in the
format of `decisions`) and ``leases.jsonl`` (moments leased to each person, with expiry; the last line of a person
counts). Both are append-only: a line is on the disk before it is acknowledged, and a partial line after a kill is
truncated.
"""

import contextlib
import fcntl
import hmac
import json
import os
import secrets
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from verified.errors import InputError
from verified.io.characters import plain
from verified.io.files import require_version
from verified.io.jsonl import finite, iterate_jsonl, read_json
from verified.people.review.adjudicate import APPLIED, needs_another
from verified.people.review.agreement import CODE, agreement
from verified.people.review.decisions import ADDITIONAL, AGAIN, KEYS, VERSION, decision_problem, read_decisions

OPTIONAL = ("instead", "text", "reason", "time", "parts", "other")
TOKEN_BYTES = 18
LONGEST_NAME = 60


class Lines:
    """An append-only JSON Lines file; each call of `add` is on the disk when it returns."""

    def __init__(self, path: Path):
        self.path = path
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        content = path.read_bytes()
        os.ftruncate(self._file, content.rfind(b"\n") + 1)

    def add(self, rows: Iterable[Mapping]) -> None:
        """Append rows; raises OSError, and restores the file, if that fails."""
        content = "".join(json.dumps(row, ensure_ascii=True, allow_nan=False) + "\n" for row in rows).encode()
        before = os.fstat(self._file).st_size
        try:
            while content:
                content = content[os.write(self._file, content) :]
            os.fsync(self._file)
        except OSError:
            os.ftruncate(self._file, before)
            raise

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


class Handout:
    """Moments handed out to several people, and their decisions.

    `items` are those of review pages, in review order; each is shown to `raters` people, and to one more while their
    decisions are in conflict (see `adjudicate`). A person gets `batch` moments, for `lease` seconds after the last sign
    of life. Raises InputError for names that are not distinct or not printable, and for a folder locked by another
    server.
    """

    def __init__(
        self,
        folder: Path,
        dataset: str,
        items: Sequence[dict],
        people: Sequence[str] = (),
        raters: int = 1,
        batch: int = 10,
        lease: float = 1800.0,
        now: Callable[[], float] = time.time,
    ):
        self.dataset, self.raters, self.batch, self.lease, self._now = dataset, raters, batch, lease, now
        self.items = {item["moment"]: item for item in items}
        for name in people:
            _check_name(name)
        folder.mkdir(parents=True, exist_ok=True)
        self._lock = (folder / "lock").open("w")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError(
                "another server hands out moments here", file=folder, remedy="end that one first"
            ) from None
        self.tokens = _tokens(folder / "people.json", people)
        self._decisions, self._leases = Lines(folder / "decisions.jsonl"), Lines(folder / "leases.jsonl")
        self.decisions = [
            {key: value for key, value in row.items() if key not in ("file", "row")}
            for row in read_decisions([self._decisions.path])
        ]
        self.turns = _turns(self._leases.path)

    def close(self) -> None:
        """Release the folder."""
        for file in (self._decisions, self._leases, self._lock):
            file.close()

    def person(self, token: str) -> str | None:
        """The person with this token; every token is compared, in constant time."""
        offered = token.encode("utf-8", "replace")
        found = [name for name, known in self.tokens.items() if hmac.compare_digest(offered, known.encode())]
        return found[0] if found else None

    def hand_out(self, name: str) -> list[dict]:
        """The moments for a person to decide on now: first those still leased from an earlier call.

        A moment in conflict carries the decisions on it, without names, as ``differing``.
        """
        deciders, held, conflicts = self._deciders(), self._held(), self._conflicts()
        mine = [one for one in self._held_by(name) if name not in deciders[one]]
        for moment in self.items:
            if len(mine) >= self.batch:
                break
            done = deciders.get(moment, frozenset())
            others = (done | held.get(moment, frozenset())) - {name}
            wanted = len(done) + 1 if moment in conflicts else self.raters
            if moment not in mine and name not in done and len(others) < wanted:
                mine.append(moment)
        self._lend(name, mine)
        return [
            {**item, **({"differing": conflicts[moment]} if moment in conflicts else {})}
            for moment, item in self.items.items()
            if moment in mine
        ]

    def keep(self, name: str, rows: object) -> int:
        """Store the decisions that a person sent; returns the number of new ones. Raises InputError for rows that no
        page sends."""
        if not isinstance(rows, list):
            raise InputError("no list of decisions", remedy=AGAIN)
        checked = [self._checked(name, row) for row in rows]
        known = {json.dumps(row, sort_keys=True) for row in self.decisions if row["reviewer"] == name}
        new = [row for row in checked if json.dumps(row, sort_keys=True) not in known]
        if new:
            self._decisions.add(new)
            self.decisions += new
        self._lend(name, self._held_by(name))
        return len(new)

    def _checked(self, name: str, row: object) -> dict:
        if not isinstance(row, dict) or (missing := [key for key in (*KEYS, "moment") if key not in row]):
            missing = [] if not isinstance(row, dict) else missing
            raise InputError(f"no decision{': it lacks ' + ', '.join(missing) if missing else ''}", remedy=AGAIN)
        require_version(row.get("version"), VERSION, "decision", "what was sent", "load the page again")
        if problem := decision_problem(row):
            raise InputError(problem, remedy=AGAIN)
        if row["dataset"] != self.dataset or row["moment"] not in self.items:
            raise InputError("a decision on a moment that is not under review", remedy="load the page again")
        decision = {key: row[key] for key in ("version", "moment", *KEYS, *OPTIONAL) if key in row}
        return {**decision, "reviewer": name}

    def progress(self) -> dict:
        """``moments, decided`` (by `raters` people each), ``conflicts``, ``people`` (name, decided, handed out now),
        agreement by `people.review.agreement` and ``kappas``: (name, name, moments that both decided on, Cohen's kappa
        or None).
        """
        from verified.people.agreement import cohen_kappas

        latest, deciders = self._latest(), self._deciders()
        rows = [
            {**row, "desc_id": moment, "state": APPLIED} for (moment, _), row in latest.items() if moment in self.items
        ]
        return {
            "moments": len(self.items),
            "decided": sum(len(deciders[moment]) >= self.raters for moment in self.items),
            "conflicts": len(self._conflicts().keys() & self.items.keys()),
            "people": [
                {
                    "name": name,
                    "decided": sum(name in deciders[moment] for moment in self.items),
                    "handed_out": len([one for one in self._held_by(name) if name not in deciders[one]]),
                }
                for name in self.tokens
            ],
            **agreement(rows),
            "kappas": cohen_kappas((row["reviewer"], row["desc_id"], CODE[row["decision"]]) for row in rows),
        }

    def _latest(self) -> dict[tuple[str, str], dict]:
        """The decision in force, by (moment, reviewer); a merge counts for both of its moments."""
        latest: dict[tuple[str, str], dict] = {}
        for row in self.decisions:
            if row["decision"] in ADDITIONAL or "moment" not in row:
                continue
            moments = [row["moment"], *([row["other"]["moment"]] if row["decision"] == "merge" else [])]
            for moment in moments:
                earlier = latest.pop((moment, row["reviewer"]), None)
                if earlier and earlier["decision"] == "merge":
                    for one in (earlier["moment"], earlier["other"]["moment"]):
                        latest.pop((one, row["reviewer"]), None)
            if row["decision"] != "withdraw":
                latest |= {(moment, row["reviewer"]): row for moment in moments}
        return latest

    def _conflicts(self) -> dict[str, list[dict]]:
        """The decisions on each moment in conflict after `raters` people or more, without names and dates."""
        by_moment: dict[str, list[dict]] = defaultdict(list)
        for (moment, _), row in self._latest().items():
            by_moment[moment].append(row)
        shown = ("decision", *OPTIONAL)
        return {
            moment: [{key: row[key] for key in shown if key in row} for row in rows]
            for moment, rows in by_moment.items()
            if len(rows) >= self.raters and needs_another(rows)
        }

    def _deciders(self) -> dict[str, set[str]]:
        deciders: dict[str, set[str]] = defaultdict(set)
        for moment, reviewer in self._latest():
            deciders[moment].add(reviewer)
        return deciders

    def _held_by(self, name: str) -> list[str]:
        until, moments = self.turns.get(name, (0.0, []))
        return [moment for moment in moments if moment in self.items] if until > self._now() else []

    def _held(self) -> dict[str, set[str]]:
        """The people with a lease or a decision, by moment."""
        held: dict[str, set[str]] = defaultdict(set)
        for name in self.turns:
            for moment in self._held_by(name):
                held[moment].add(name)
        return held

    def _lend(self, name: str, moments: list[str]) -> None:
        until = self._now() + self.lease
        self._leases.add([{"reviewer": name, "until": until, "moments": moments}])
        self.turns[name] = until, moments


def _check_name(name: str, file: Path | None = None) -> None:
    if not name or name != plain(name) or len(name) > LONGEST_NAME:
        raise InputError(
            f"{name!r:.80} is no name", file=file, remedy=f"1 to {LONGEST_NAME} characters that can be seen"
        )


def _turns(path: Path) -> dict[str, tuple[float, list[str]]]:
    """Leased moments of each person, with their expiry (seconds since the epoch)."""
    turns: dict[str, tuple[float, list[str]]] = {}
    for number, row in enumerate(iterate_jsonl(path, ("reviewer", "until", "moments")), start=1):
        name, until, moments = row["reviewer"], row["until"], row["moments"]
        texts = isinstance(name, str) and isinstance(moments, list) and all(isinstance(one, str) for one in moments)
        if not texts or not finite(until):
            remedy = "delete the file: undecided moments are handed out again"
            raise InputError("does not say who has which moments until when", file=path, row=number, remedy=remedy)
        turns[name] = until, moments
    return turns


def _tokens(path: Path, people: Iterable[str]) -> dict[str, str]:
    """Names and tokens: those of the folder, and new ones for new people."""
    tokens = read_json(path) if path.is_file() else {}
    if not isinstance(tokens, dict) or not all(isinstance(token, str) and token for token in tokens.values()):
        raise InputError("not names and tokens", file=path, remedy="delete it: links change, decisions stay")
    for name in tokens:
        _check_name(name, path)
    for name in people:
        tokens.setdefault(name, secrets.token_urlsafe(TOKEN_BYTES))
    if not tokens:
        raise InputError("nobody is to review", remedy="name the reviewers: --people Ann Bob")
    new = path.with_name(f"{path.name}.new")
    with contextlib.suppress(FileNotFoundError):
        new.unlink()
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as out:
        json.dump(tokens, out, ensure_ascii=True, indent=1)
        out.flush()
        os.fsync(out.fileno())
    new.replace(path)
    return tokens
