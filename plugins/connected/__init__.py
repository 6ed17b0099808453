"""Milvus collections of other programs, which are only read."""
