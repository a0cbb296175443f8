"""TVR-Ranking: a query has many moments, each with a grade of relevance (Liang et al., arXiv 2407.06597)."""
