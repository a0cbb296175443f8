"""VLG-Net as it comes with the workflow: where its weights are, the card beside them, how both are made."""
