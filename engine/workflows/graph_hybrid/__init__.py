"""Graph + vector retrieval."""
