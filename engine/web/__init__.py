"""Searching the web behind a port: off unless an address is set, its results untrusted text (SPEC DL-07)."""
