"""The demo's evaluator: a small network and its pre-training on a separate synthetic corpus."""
