"""The dual loop."""
