"""Questions grounded by the vectors of an embedder that knows brightness."""

from brightness import bright_between, brightness_session

from verified.config.datasets import Spans
from verified_rextime.ground import ground_by_vectors

SPANS = Spans(clip_seconds=1.0, min_pred_clips=1, max_pred_clips=3)


def test_questions_are_grounded_in_their_own_videos(tmp_path):
    rows = [bright_between(tmp_path / f"v{n}.mp4", 6.0, n + 1, n + 3) for n in range(3)]
    videos = {row["video"]: row for row in rows}
    asked = [("q0", "v0", "when is it bright?"), ("q1", "v2", "when is it bright?"), ("q2", "v1", "unknown")]
    rows = [{"qid": qid, "vid": video, "query": query, "duration": 6.0} for qid, video, query in asked]
    with brightness_session(tmp_path) as session:
        found = ground_by_vectors(rows, videos, SPANS, session)
    for qid, start in (("q0", 1.0), ("q1", 3.0)):
        window = found[qid].window
        assert start <= window[0] < window[1] <= start + 2
    assert found["q2"].window == (0.0, 6.0)
