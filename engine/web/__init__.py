"""Searching the web behind a port: off unless an address is set, its results untrusted text (DL-07)."""
