"""The nodes that several workflows have, with the words in which they are shown."""

from __future__ import annotations

from dataclasses import replace

from engine.flow.context import Step
from engine.flow.flow import Node
from engine.messages import N_, NC_
from engine.workflows.steps.generate import generate
from engine.workflows.steps.retrieve import retrieve
from engine.workflows.steps.rewrite import rewrite

RETRIEVE = Node(
    step=retrieve,
    name=N_("Retrieve"),
    kind="search",
    who=N_("The retriever"),
    work=N_("finds passages"),
    doing=N_("The retriever is looking for passages"),
    lead=N_("retrieve"),
    tab="passages",
)
REWRITE = Node(
    step=rewrite,
    name=N_("Rewrite"),
    kind="rewrite",
    who=N_("The rewriter"),
    work=N_("rephrases the question"),
    brief=N_("rephrases it"),
    doing=N_("The rewriter is rephrasing the question"),
    lead=N_("rewrite"),
    tab="rewrites",
)
GENERATE = Node(
    step=generate,
    name=N_("Generate"),
    kind="answer",
    who=N_("The generator"),
    work=N_("writes, with citations"),
    brief=N_("writes and cites"),
    doing=N_("The generator is writing the answer"),
    lead=N_("generate"),
)


def grade(step: Step) -> Node:
    """The node that has each passage judged, and decides whether they are enough."""
    return Node(
        step=step,
        name=N_("Grade"),
        kind="grade",
        who=N_("The grader"),
        work=N_("judges each passage"),
        brief=NC_("picture", "judges passages"),
        lead=N_("grade"),
        tab="passages",
    )


def route(step: Step) -> Node:
    """The node that chooses between an answer at once and a search."""
    return Node(
        step=step,
        name=N_("Choose route"),
        kind="route",
        who=N_("The router"),
        work=N_("answer or search"),
        doing=N_("The router is choosing between answer and search"),
        tab="loop",
    )


def grade_documents(step: Step) -> Node:
    """The node that grades in a workflow with a tab of its own."""
    return Node(step=step, name=N_("Grade"), kind="grade", work=N_("judges passages"), tab="loop")


def answer(step: Step) -> Node:
    """The node that writes in a workflow with a tab of its own."""
    return replace(GENERATE, step=step, work=N_("writes and cites"), brief="", tab="loop")
