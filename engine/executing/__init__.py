"""Large jobs in blocks: done by threads of this process, or by the workers of a Ray cluster, with the same result."""
