"""Calls of the role `embed` that a run would make for movies, for a quote."""

from collections.abc import Callable
from pathlib import Path

from verified.config import Config
from verified.features.embedded import piece_calls
from verified.io.jsonl import read_json
from verified.lmm.embedding import embed_settings, text_calls
from verified.lmm.session import Session
from verified.lmm.tasks.embedding import EMBEDDING
from verified_longform.config import Longform
from verified_longform.experiment import test_rows
from verified_longform.jobs import embedded_sets, folder


def movie_walk(config: Config) -> Callable[[Session], None]:
    """Ask everything that `embed_movies` would ask. Data sets without annotations from a run are skipped, and those
    whose movies all have vectors."""

    def walk(session: Session) -> None:
        for name in embedded_sets(config):
            stage = Path(folder(config), name)
            listed, counts = stage / "annotations.jsonl", stage / "dense" / "counts.json"
            if not listed.is_file() or (counts.is_file() and not read_json(counts)["unanswered"]):
                continue
            rows = test_rows(listed, config.section(Longform).datasets[name].test_split)
            movies = {row["movie"]: {"duration": row["duration"], "sha256": f"unknown: {row['movie']}"} for row in rows}
            pieces = piece_calls(movies, embed_settings(session.settings), session)
            calls = [*(call for _, call in pieces), *text_calls([row["sentence"] for row in rows], session)]
            session.ask(EMBEDDING, calls, len(calls))

    return walk
