"""The search of the web; addresses are shown without user name and password."""

from __future__ import annotations

from engine.errors.base import Message, WorkbenchError
from engine.messages import N_


class WebSearchError(WorkbenchError):
    """The search engine of the settings gave nothing that can be used."""

    code = "WB900"
    unreachable = Message(
        N_("No search engine answers at {address}."),
        N_("Start SearXNG, or correct WORKBENCH_SEARXNG_URL; leave it empty to search no web."),
        code="WB901",
    )
    slow = Message(
        N_("The search engine at {address} gave no whole answer within {seconds} s."),
        N_("Lower `outgoing.request_timeout` in the settings.yml of SearXNG, or use another instance."),
        code="WB902",
    )
    slower_than_budget = Message(
        N_("The web search gave no result within the {seconds} s that the run could wait."),
        N_("Raise the time budget of the run, or use a faster search engine."),
        code="WB902",
    )
    """The run did not wait any longer, no matter what the engine's own limit is."""
    # It answered, and would not search.
    json_disabled = Message(
        N_("The search engine at {address} refuses to answer in JSON ({status})."),
        N_("Add `json` under `search: formats:` in the settings.yml of SearXNG, and restart it."),
        code="WB903",
    )
    """SearXNG answers 403 to a format that its settings do not list, and lists only ``html`` by itself."""
    redirected = Message(
        N_("The search engine at {address} redirects the search ({moved}), which is not followed."),
        N_("Set WORKBENCH_SEARXNG_URL to the address where SearXNG itself answers."),
        code="WB903",
    )
    refused = Message(
        N_("The search engine at {address} answered with status {refused}."),
        N_("Look at the log of SearXNG, or set WORKBENCH_SEARXNG_URL to another instance."),
        code="WB903",
    )
    # It answered with something that is no list of results.
    not_results = Message(
        N_("What answers at {address} sends no search results in JSON."),
        N_("Check that WORKBENCH_SEARXNG_URL is the address of a SearXNG with `json` among its formats."),
        code="WB904",
    )
    too_large = Message(
        N_("The answer of the search engine at {address} is larger than {limit_mb} MB and was not read."),
        N_("Check that WORKBENCH_SEARXNG_URL is the address of a SearXNG."),
        code="WB904",
    )
