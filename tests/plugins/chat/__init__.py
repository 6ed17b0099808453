"""What tests of the core need of it (``tests/support/brought.py``)."""

SETTINGS = {"openai_api": True}
ROUTES = {
    "GET /v1/models": "viewer",
    "GET /v1/models/{model_id:path}": "viewer",
    "POST /v1/chat/completions": "editor",
}
BODIES = {
    "POST /v1/chat/completions": {"model": "default", "messages": [{"role": "user", "content": "Why?"}]},
}
IDS = {"model_id": "for the ward"}
"""Saved settings of ``tests/plugins/team/people/ward.py``."""
