"""The demo's evaluator: a small network."""
