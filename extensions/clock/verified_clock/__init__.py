"""Clock test of the model that sees clips."""
