"""QVHighlights: several windows a query and how well each clip shows it (Lei, Berg and Bansal, NeurIPS 2021)."""
