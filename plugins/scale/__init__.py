"""Collections of millions of passages on a server: their index and what it finds, and loading in bulk."""
