"""Rows of moments and of their scored candidates, as corpus and evaluator write them."""


def moment_row(desc_id: int, **changes: object) -> dict:
    """A moment of 2.5 s in a video of 20 s of its own."""
    row = {"desc_id": desc_id, "video": f"v{desc_id}", "start": 0, "end": 2.5, "duration": 20.0, "split": "test"}
    return {**row, "caption": "a ball moves", **changes}


def score_row(desc_id: int, kind: str = "statics", number: int = 0, score: float = 0.5, **changes: object) -> dict:
    """A candidate of a moment, whose scores are all `score`."""
    row = {"desc_id": desc_id, "video": f"v{desc_id}", "type": kind, "candidate": number, "lineage": "abc"}
    row |= {"caption": f"{kind} {number}", "probability": 0.5, **dict.fromkeys(("z1", "margin", "score"), score)}
    return {**row, **changes}
