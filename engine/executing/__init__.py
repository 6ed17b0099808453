"""Large jobs in blocks: done by threads of this process, or by other processes of a plug-in, with the same result."""
