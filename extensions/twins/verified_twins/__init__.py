"""Accuracy of retrieval models against sentences that are false in a detail."""
