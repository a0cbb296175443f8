"""What `verified plan` says a run needs, for the paper's configuration and for a corpus of one's own."""

import pytest
from running import PROJECT

from verified.config import read
from verified.planning.needs import lines, needs


def test_the_papers_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    needed = needs(read(PROJECT / "config" / "paper.yaml"))
    assert needed.moments == {"Charades-FIG": 16128, "DiDeMo-FIG": 41104, "ActivityNet-FIG": 71957}
    assert 120_000 < needed.tuples < 130_000  # about 125 thousand, section 3.3
    assert sum(needed.downloads.values()) == pytest.approx(50.8, abs=0.5)
    raw = needed.tuples * 20 * 3 * 224**2 * 3 / 1e9
    assert raw > 1000 and max(size for what, size in needed.disk.items() if "clips" in what) < 39
    # By hand, from the published annotations: text 12.8 and video 9.3; five keyframes a moment of ActivityNet's, one of
    # the others'; eight and twelve calls a moment.
    assert needed.disk["features"] == pytest.approx(22.1, abs=0.1)
    assert needed.disk["keyframes"] == pytest.approx((16128 + 41104 + 5 * 71957) * 40e-6, rel=0.01)
    assert needed.disk["ledger"] == pytest.approx((8 * (16128 + 41104) + 12 * 71957) * 3e-6, rel=0.01)
    assert needed.disk["environments"] > 0 and 185 < sum(needed.disk.values()) < 210
    shown = "\n".join(lines(needed))
    assert "129189" in shown and "DiDeMo-FIG train: as many as its released fine captions, 32903" in shown
