"""Training of the small weights that come with the workflow."""
