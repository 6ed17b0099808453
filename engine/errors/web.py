"""The search of the web; addresses are shown without user name and password."""

from __future__ import annotations

from engine.errors.base import Message, WorkbenchError
from engine.messages import N_


class WebSearchError(WorkbenchError):
    """The search engine of the settings gave nothing that can be used."""

    code = "WB900"


class WebSearchUnreachable(WebSearchError):
    code = "WB901"
    fact = N_("No search engine answers at {address}.")
    remedy = N_("Start SearXNG, or correct WORKBENCH_SEARXNG_URL; leave it empty to search no web.")


class WebSearchSlow(WebSearchError):
    code = "WB902"
    after = Message(
        N_("The search engine at {address} gave no whole answer within {seconds} s."),
        N_("Lower `outgoing.request_timeout` in the settings.yml of SearXNG, or use another instance."),
    )
    within = Message(
        N_("The web search gave no result within the {seconds} s that the run could wait."),
        N_("Raise the time budget of the run, or use a faster search engine."),
    )
    """The run did not wait any longer, no matter what the engine's own limit is."""


class WebSearchRefused(WebSearchError):
    """It answered, and would not search."""

    code = "WB903"
    json_disabled = Message(
        N_("The search engine at {address} refuses to answer in JSON ({status})."),
        N_("Add `json` under `search: formats:` in the settings.yml of SearXNG, and restart it."),
        status="403",
    )
    """SearXNG answers 403 to a format that its settings do not list, and lists only ``html`` by itself."""
    redirected = Message(
        N_("The search engine at {address} redirects the search ({moved}), which is not followed."),
        N_("Set WORKBENCH_SEARXNG_URL to the address where SearXNG itself answers."),
    )
    with_status = Message(
        N_("The search engine at {address} answered with status {refused}."),
        N_("Look at the log of SearXNG, or set WORKBENCH_SEARXNG_URL to another instance."),
    )


class WebSearchMalformed(WebSearchError):
    """It answered with something that is no list of results."""

    code = "WB904"
    not_results = Message(
        N_("What answers at {address} sends no search results in JSON."),
        N_("Check that WORKBENCH_SEARXNG_URL is the address of a SearXNG with `json` among its formats."),
    )
    too_large = Message(
        N_("The answer of the search engine at {address} is larger than {limit_mb} MB and was not read."),
        N_("Check that WORKBENCH_SEARXNG_URL is the address of a SearXNG."),
    )
