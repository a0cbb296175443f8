"""The demo's stand-in for the paper's evaluator: a small network and its pre-training on a separate world."""
