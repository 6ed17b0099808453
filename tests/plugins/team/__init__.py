"""What tests of the core need of it (``tests/support/brought.py``)."""

SETTINGS = {"metrics": True}
PATHS = {"/metrics": {"get"}}
