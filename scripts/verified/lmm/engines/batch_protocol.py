"""The lines of a batch, as OpenAI's Batches takes and gives them: JSON, one call each.

A request: ``custom_id`` (the ledger key), ``method``, ``url``, ``body``. A result: ``custom_id``, ``response`` with
``status_code`` and ``body``, ``error``. Results come in any order; where a call failed, OpenAI's line has the error in
its body, vLLM's beside it, and one that ran out of time has no response at all.
"""

import json
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from verified.config.generation import EngineSettings
from verified.errors import InputError
from verified.lmm.engines.chat_protocol import DETAIL, Unreadable, taken_body, untaken
from verified.lmm.engines.exchange import body_of, path_of, read_answer, read_refusal
from verified.lmm.engines.guarded_http import MOST_BYTES
from verified.lmm.request import Reply, Request
from verified.runtime.secrets import redact

REASON = "batch"
"""Of calls that a batch did not answer: they are asked again."""


def request_line(request: Request, role: EngineSettings) -> bytes:
    """A call as a line of the file that is sent."""
    row = {"custom_id": request.key, "method": "POST", "url": f"/v1{path_of(role)}", "body": body_of(request, role)}
    return json.dumps(row, ensure_ascii=True).encode("ascii") + b"\n"


def taken_line(line: bytes, without: Collection[str]) -> bytes:
    """A line whose body has no field that the model does not take."""
    if not without:
        return line
    row = json.loads(line)
    row["body"] = taken_body(row["body"], without)
    return json.dumps(row, ensure_ascii=True).encode("ascii") + b"\n"


def result_rows(file: Path) -> Iterator[tuple[str, dict]]:
    """(key, row) of each line that names one; what cannot be read is passed over, and so counts as not answered."""
    with file.open("rb") as lines:
        while line := lines.readline(MOST_BYTES):
            try:
                row = json.loads(line)
                key = row["custom_id"]
            except (ValueError, KeyError, TypeError, RecursionError):
                continue
            if isinstance(key, str):
                yield key, row


def read_result(row: dict, request: Request, role: EngineSettings) -> Reply:
    """What a line says of its call, which is asked again without a field that the model does not take.

    Raises InputError where no further call can succeed.
    """
    response = row.get("response")
    response = response if isinstance(response, dict) else {}
    status, body = response.get("status_code"), response.get("body")
    try:
        if status == 200 and not row.get("error"):
            return read_answer(json.dumps(body).encode("utf-8"), request, role)
    except (Unreadable, RecursionError) as error:
        return Reply("", "error", "garbage", redact(str(error))[:DETAIL])
    error = _error(body) or _error(row.get("error")) or {}
    message = redact(str(error.get("message") or error or "no answer"))
    if isinstance(status, int) and (field := untaken(status, error, message, body_of(request, role))):
        return Reply("", "error", REASON, message[:DETAIL], notes={"untaken": [field]})
    if isinstance(status, int) and status >= 400:
        return read_refusal(status, error, message, request, role)
    return Reply("", "error", REASON, f"{redact(str(error.get('code') or 'failed'))}: {message}"[:DETAIL])


def _error(value: Any) -> dict | None:
    """An error in any of its forms: text, itself, or wrapped as the body of an error answer has it."""
    if isinstance(value, str):
        return {"message": value}
    if isinstance(value, dict):
        return _error(value["error"]) if "error" in value else value
    return None


def refused_batch(errors: list[dict], address: str) -> InputError:
    """The error of a batch that the provider does not accept."""
    said = "; ".join(
        f"line {error['line']}: {error['message']}" if error.get("line") else str(error.get("message"))
        for error in errors[:3]
    )
    return InputError(
        f"{address} refuses the batch: {redact(said)[:DETAIL] or 'it does not say why'}",
        remedy="correct the role, or leave `batch` out; all answers so far are kept",
    )
