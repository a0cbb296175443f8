"""Rendered moments with known facts, captioned among the real ones of a run."""
