"""Which library reads frames of videos: what rules hand to their jobs."""

READER = "VERIFIED_VIDEO_READER"
"""Variable of the environment with its name, pyav or decord."""
