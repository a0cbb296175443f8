"""Counts of all shards added up, and caught where they do not reconcile."""

import pytest

from verified.captions.counts import THIS_RUN, add_served, add_up, asked_in
from verified.io.jsonl import write_json
from verified.lmm.request import STATUSES

OUTCOMES = dict.fromkeys(STATUSES, 0) | {"ok": 5, "blocked": 1}
CALLS = {"calls": 6, "outcomes": OUTCOMES, "reasons": {"blocked: content-filter": 1}, "served": {"olmocr-2 for m": 4}}
SHARD = {"moments": 7, "complete": 4, "short": 2, "without": 1, "refused": {"empty": 1}, "calls": {"statics": CALLS}}
LOST = {"statics": CALLS | {"outcomes": OUTCOMES | {"ok": 4}}}


@pytest.mark.parametrize(
    ("change", "reason"), [({"complete": 1}, "do not sum to 14 moments"), ({"calls": LOST}, "do not sum to 12 calls")]
)
def test_counts_that_do_not_reconcile_are_an_error(change, reason):
    counts = add_up({"statics": [SHARD, SHARD]})["statics"]
    assert counts["rows"] == {"statics": {"complete": 8, "short": 4, "without": 2}} and counts["refused"] == {
        "empty": 2
    }
    assert counts["tasks"][0]["blocked"] == 2 and counts["tasks"][0]["reasons"] == {"blocked: content-filter": 2}
    about = add_served({"models": {"Image model": "m"}}, {"statics": counts})
    assert about["models"] == {"Image model": "m", "Answers by other models": "olmocr-2 for m (8 answers)"}
    with pytest.raises(ValueError, match=reason):
        add_up({"statics": [SHARD, SHARD | change]})


def test_only_a_shard_with_unanswered_calls_is_asked_again(tmp_path):
    for name, unanswered in (("done", {}), ("open", {"statics": 1})):
        write_json(tmp_path / name, {"unanswered": unanswered, "asked_in": "run 7"})
    assert [asked_in(str(tmp_path / name)) for name in ("done", "open", "missing")] == ["run 7", THIS_RUN, ""]
