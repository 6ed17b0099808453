"""What tests of the core need of it (``tests/support/brought.py``)."""

BODIES = {"POST /settings/code": {"config": {"collection": "{name}"}}}
PATHS = {"/settings/code": {"post"}}
