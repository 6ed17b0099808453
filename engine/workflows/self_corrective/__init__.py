"""The four-node loop."""
