"""The lab: people and checks around captions."""
