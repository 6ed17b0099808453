"""Why the web could not be searched; addresses are shown without user name and password."""

from __future__ import annotations

from typing import Self

from engine.errors.base import WorkbenchError


class WebSearchError(WorkbenchError):
    """The search engine of the settings gave nothing that can be used."""

    code = "WB900"


class WebSearchUnreachable(WebSearchError):
    code = "WB901"

    @classmethod
    def at(cls, address: str) -> Self:
        return cls(
            f"No search engine answers at {address}.",
            remedy="Start SearXNG, or correct WORKBENCH_SEARXNG_URL; leave it empty to search no web.",
            params={"address": address},
        )


class WebSearchSlow(WebSearchError):
    code = "WB902"

    @classmethod
    def after(cls, address: str, seconds: float) -> Self:
        return cls(
            f"The search engine at {address} gave no whole answer within {seconds:g} s.",
            remedy="Lower `outgoing.request_timeout` in the settings.yml of SearXNG, or use another instance.",
            params={"address": address, "seconds": f"{seconds:g}"},
        )

    @classmethod
    def within(cls, seconds: float) -> Self:
        """The run did not wait any longer, no matter what the engine's own limit is."""
        return cls(
            f"The web search gave no result within the {seconds:.3g} s that the run could wait.",
            remedy="Raise the time budget of the run, or use a faster search engine.",
            params={"seconds": f"{seconds:.3g}"},
        )


class WebSearchRefused(WebSearchError):
    """It answered, and would not search."""

    code = "WB903"

    @classmethod
    def json_disabled(cls, address: str) -> Self:
        """SearXNG answers 403 to a format that its settings do not list, and lists only ``html`` by itself."""
        return cls(
            f"The search engine at {address} refuses to answer in JSON (403).",
            remedy="Add `json` under `search: formats:` in the settings.yml of SearXNG, and restart it.",
            params={"address": address, "status": "403"},
        )

    @classmethod
    def elsewhere(cls, address: str, status: int) -> Self:
        return cls(
            f"The search engine at {address} sends the search elsewhere ({status}), which is not followed.",
            remedy="Set WORKBENCH_SEARXNG_URL to the address where SearXNG itself answers.",
            params={"address": address, "moved": str(status)},
        )

    @classmethod
    def with_status(cls, address: str, status: int) -> Self:
        return cls(
            f"The search engine at {address} answered with status {status}.",
            remedy="Look at the log of SearXNG, or set WORKBENCH_SEARXNG_URL to another instance.",
            params={"address": address, "refused": str(status)},
        )


class WebSearchMalformed(WebSearchError):
    """It answered with something that is no list of results."""

    code = "WB904"

    @classmethod
    def not_results(cls, address: str) -> Self:
        return cls(
            f"What answers at {address} sends no search results in JSON.",
            remedy="Check that WORKBENCH_SEARXNG_URL is the address of a SearXNG with `json` among its formats.",
            params={"address": address},
        )

    @classmethod
    def too_large(cls, address: str, limit_mb: float) -> Self:
        return cls(
            f"The answer of the search engine at {address} is larger than {limit_mb:g} MB and was not read.",
            remedy="Check that WORKBENCH_SEARXNG_URL is the address of a SearXNG.",
            params={"address": address, "limit_mb": f"{limit_mb:g}"},
        )
