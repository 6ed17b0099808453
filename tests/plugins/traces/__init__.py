"""What tests of the core need of it (``tests/support/brought.py``)."""

import json

from tests.plugins.traces.crag_spans import tides

BODIES = {
    "POST /runs/{run_id}/verdicts": {},
    "POST /traces": {
        "files": [{"name": "a.json", "content": json.dumps(tides().otlp("The moon."))}],
        "collection": "{name}",
    },
}
PATHS = {"/traces": {"post"}, "/runs/{run_id}/verdicts": {"post"}}
WAITS = {("plugins/traces/judge_rest.py", "result"): "the built-in grader asks nobody"}
