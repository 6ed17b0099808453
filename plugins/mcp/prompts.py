"""Prompts: two jobs of the workbench, as an agent would go about them."""

from __future__ import annotations

from typing import Any

from mcp.server.mcpserver import MCPServer


def add_prompts(server: MCPServer[Any]) -> None:
    """One to debug a question, one to tune a set of them."""

    @server.prompt(title="Debug a question")
    def debug_question(question: str, collection: str = "samples") -> str:
        """Ask a question, and find out why its answer is not the one that was hoped for."""
        return (
            f"Ask the collection {collection!r} this question with the tool `ask`: {question!r}. Read the answer "
            "against the passages that it cites. If it abstained, was forced or looks wrong, call `explain_run`, then "
            "`search` for a passage that answers, and `diagnose` with its id as expected. Try the setting that it "
            "names with `what_if` before you propose it, and say which passages it lets in that the run had held back. "
            "Say what you found with the ids of run and passages, and do not claim more than the record shows."
        )

    @server.prompt(title="Tune the settings of a query set")
    def tune_query_set(query_set: str) -> str:
        """Find settings that do better over a set of questions, from the runs that were gathered."""
        return (
            f"Find settings for the query set {query_set!r}. Look for its newest batch with `list_batches`; without "
            "one say that evidence has to be gathered first. Call `sweep` over two settings that need no calls, "
            "such as grade_pass_threshold or min_relevant, similarity_threshold and top_k; `list_settings` has their "
            "ranges. Report the recommendation with how sure it is, and say so where settings cannot be distinguished."
        )
