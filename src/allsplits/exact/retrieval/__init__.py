"""Scores of retrieval over all galleries: where the relevant items stand."""
