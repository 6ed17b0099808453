"""What tests of the core need of it (``tests/support/brought.py``)."""

SETTINGS = {"openai_api": True}
BODIES = {
    "POST /v1/chat/completions": {"model": "default", "messages": [{"role": "user", "content": "Why?"}]},
}
IDS = {"model_id": "for the ward"}
"""Saved settings of ``tests/plugins/team/people/ward.py``."""
