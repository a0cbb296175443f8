"""The commands of `verified`, a module for each field of work."""
