"""The audit: queries that cannot be answered as they are annotated, and spans that are in doubt."""
