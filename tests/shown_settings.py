"""The part of a small configuration that tables show, for tests of the tables."""

from verified.config import load
from verified.config.retrieval import Retrieval
from verified.tables.shown import Shown, shown_values


def shown_settings(
    datasets: dict[str, str], kind: str = "demo", models: tuple[str, ...] = ("xml",), **others: object
) -> Shown:
    """Titles of data sets by key, all of one `kind` of source; `models` may be unknown ones. `others`: further keys."""
    given = {"demo": {}, "folder": {"videos": "videos"}, "released": {"collection": "c", "splits": ["test"]}}[kind]
    named = {key: {"title": title, "source": {"kind": kind, **given}} for key, title in datasets.items()}
    shown = Shown(**shown_values(load({"datasets": named, **others})))
    return shown.model_copy(update={"retrieval": Retrieval.model_construct(models=models)})
