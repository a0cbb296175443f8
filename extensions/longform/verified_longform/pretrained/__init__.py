"""VLG-Net as it comes with the workflow: its weights, their card, and how both are made."""
