"""The answer-evaluation loop."""
