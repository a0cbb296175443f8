"""Rows of a ledger, as a run writes them."""

from verified.lmm.ledger_files import key_of, parts_of
from verified.lmm.request import Request


def row_of(number, status="ok", text="1. a\n2. b\n3. c"):
    """The row of call `number`."""
    parts = parts_of(Request("positives", f"prompt {number}", {}), (), "m", "r")
    rest = {"engine": "e", "reason": "", "detail": "", "finish": "stop", "notes": "{}", "created": 0.0}
    numbers = {"attempts": 1, "tokens_in": 2, "tokens_out": 3, "seconds": 0.5, "cost": 0.25}
    return {"key": key_of(parts), **parts, **rest, **numbers, "status": status, "text": text}


def put_all(ledger, rows):
    """Record the rows; returns how many there were."""
    return sum(1 for row in rows if ledger.put(row))
