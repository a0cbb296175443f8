"""Moment retrieval where a query has any number of moments, also none."""
