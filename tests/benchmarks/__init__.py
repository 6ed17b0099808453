"""Benchmarks: ``python -m tests.benchmarks [NAME…]`` prints medians and ratios; nothing here asserts a time."""
