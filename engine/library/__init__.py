"""Collections, ingestions and connections as pages and command line use them: blocking calls and plain values."""
