"""Asking a scripted endpoint: calls, an engine without patience, and the outcomes with their ledger."""

import json

from verified.config.generation import EngineSettings
from verified.lmm.client import Call, Client
from verified.lmm.engines.openai import OpenAI
from verified.lmm.ledger import Ledger
from verified.lmm.request import Request
from verified.lmm.tasks.perturbations import POSITIVES

GOOD = "1. a dog runs far\n2. a dog runs off\n3. a dog runs home"
JSON = (("Content-Type", "application/json"),)


def call(number, **fields):
    prompt = f"number {number} is {json.dumps('a dog runs')}"
    return Call(POSITIVES, Request("positives", prompt, {"caption": "a dog runs", "count": "3"}, **fields), count=3)


def engine(url, **changes):
    values = {"engine": "openai", "model": "loop-1", "base_url": url, "api_slots": 4, "retries": 3, **changes}
    return OpenAI(EngineSettings(**values), first_wait=0.01, longest_wait=1.0 if "retries" not in changes else 0.05)


def ask(tmp_path, asked, calls, attempts=2):
    with Ledger(tmp_path / "ledger") as ledger:
        outcomes = dict(Client(asked, ledger, attempts).ask(calls))
        assert len({outcome.key for outcome in outcomes.values()}) == ledger.totals()["calls"] == len(outcomes)
    return [outcomes[number] for number in range(len(outcomes))]
