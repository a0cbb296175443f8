"""Video and text features (supplement B.1)."""
