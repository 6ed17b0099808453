"""Traces of other programs, read as spans, understood as searches and verdicts, and made into runs."""
