"""Rows of a ground truth and the table that `verified compare` prints of it."""

import csv
import json

COUNT = 12


def lines(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def table(path):
    with path.open() as text:
        return list(csv.DictReader(text))
