"""The library that reads frames of videos, as rules pass it to their jobs."""

READER = "VERIFIED_VIDEO_READER"
"""Environment variable with its name, pyav or decord."""
