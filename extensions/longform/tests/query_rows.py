"""Rows of queries in movies, as `longform` reads them from annotations."""


def query_row(number: int, movie: str, start: float, end: float, split: str = "train", duration: float = 100.0) -> dict:
    row = {"id": str(number), "movie": movie, "sentence": "She opens a red door.", "duration": duration}
    return {**row, "start": start, "end": end, "split": split}
