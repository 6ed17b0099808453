"""Blocks of large jobs done by the workers of a Ray cluster, with the same result as by threads of the app."""
