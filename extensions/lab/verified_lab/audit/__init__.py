"""The audit: queries that are unanswerable as annotated, and doubtful spans."""
