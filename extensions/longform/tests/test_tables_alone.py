"""A configuration of movies alone has no table of the core."""

from shown_settings import shown_settings

from verified.tables.collect import Collection
from verified.tables.table import Estimate, Table
from verified.tables.write import write_tables

RECALL = Table(
    "long-form",
    "Recall in movies",
    ("Data set", "Window", "R@1", "Queries"),
    [["Movies", "180 s", Estimate(12.345, 10.0, 14.5), 200]],
    digits=(0, 0, 1, 0),
)


def test_a_configuration_without_corpora_for_retrieval_has_its_own_tables_alone(tmp_path):
    write_tables(tmp_path / "t", shown_settings({}, longform={}), Collection([], []), tmp_path, [], [RECALL])
    names = ["all.csv", *(f"long-form.{ending}" for ending in ("csv", "html", "md", "tex"))]
    assert sorted(path.name for path in (tmp_path / "t").iterdir()) == names
    assert "long-form,Movies,,,,180 s,R@1,12.345,10.0,14.5,,,," in (tmp_path / "t" / "all.csv").read_text()
