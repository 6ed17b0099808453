"""Runs from their first event to their last: roles, steps' context, clock, live runs."""
