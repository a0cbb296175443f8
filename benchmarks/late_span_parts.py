"""late_span with each of its three parts taken out in turn: what each is worth on the demo's test split.

    python -m benchmarks.late_span_parts        # twelve trainings; the demo's features must be built

- without late interaction: videos are ranked by one vector a query, the weighted mean of its tokens;
- without contrast between clips: its loss weighs nothing;
- without query-aware features: every clip is told the same mean of the tokens.

Settings and seeds are those of config/demo-full.yaml. Each row: VCMR 0.5/r1 and VR r1 in percent, mean and standard
deviation over the seeds, parameters, and processor seconds of one training.
"""

import contextlib
import statistics
from pathlib import Path
from unittest.mock import patch

from benchmarks.demo_trainings import train_and_test

from verified.config import read
from verified.runtime.job import log_to, set_threads, take_environment

PROJECT = Path(__file__).resolve().parents[1]
FOLDER = Path(__file__).with_name("results") / "late_span"


def main() -> None:
    take_environment()
    settings = read(PROJECT / "config" / "demo-full.yaml")
    set_threads(settings.retrieval.threads)
    log_to()
    print("| late_span | VCMR 0.5/r1 | VR r1 | parameters | CPU seconds |\n|---|---|---|---|---|")
    for name, change in variants().items():
        rows = [run(settings, name, change, seed) for seed in settings.retrieval.seeds_of("late_span")]
        cells = [spread([row[metric] for row in rows]) for metric in ("vcmr", "vr")]
        seconds = statistics.mean(row["seconds"] for row in rows)
        print(f"| {name} | {' | '.join(cells)} | {rows[0]['parameters']:,} | {seconds:.1f} |", flush=True)


def spread(values: list[float]) -> str:
    return f"{statistics.mean(values):.2f} ±{statistics.stdev(values):.2f}"


def variants() -> dict:
    """Name → what to patch and how (None: nothing), and options."""
    from verified.benchmark.vcmr.models.late_span import PAD, LateSpan
    from verified.benchmark.vcmr.scoring import unit

    scores, localise = LateSpan.clip_scores, LateSpan.localise

    def one_vector(model, queries, videos):
        """Every clip's cosine with the weighted mean of the tokens, in the place of token by token."""
        mean = (queries["weight"].unsqueeze(2) * queries["tokens"]).sum(dim=1, keepdim=True)
        weight = queries["weight"].new_ones(len(mean), 1)
        single = {"unit": unit(mean), "weight": weight, "mask": weight.bool()}
        return scores(model, single, videos)

    def told_the_mean(model, clips, mask, tokens, token_mask):
        """All tokens replaced by their weighted mean: attention over equal tokens gives each clip the same."""
        weight = model.token_weight(tokens).squeeze(2).masked_fill(~token_mask, PAD).softmax(dim=1)
        mean = (weight.unsqueeze(2) * tokens).sum(dim=1, keepdim=True)
        return localise(model, clips, mask, mean.expand_as(tokens), token_mask)

    return {
        "whole": (contextlib.nullcontext, {}),
        "without late interaction": (lambda: patch.object(LateSpan, "clip_scores", one_vector), {}),
        "without contrast between clips": (contextlib.nullcontext, {"clip_weight": 0.0}),
        "without query-aware features": (lambda: patch.object(LateSpan, "localise", told_the_mean), {}),
    }


def run(settings, name: str, change: tuple, seed: int) -> dict[str, float]:
    """Train and test once."""
    patched, options = change
    with patched():
        tested, seconds = train_and_test(settings, "late_span", seed, FOLDER / name.replace(" ", "-"), options)
    recall = tested["metrics"]
    return {
        "vcmr": recall["VCMR"]["0.5/r1"],
        "vr": recall["VR"]["r1"],
        "parameters": tested["parameters"],
        "seconds": seconds,
    }


if __name__ == "__main__":
    main()
