"""Power of the paired comparison of two models."""
