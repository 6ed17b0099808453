"""The step that answers without a search: from memory, or from good manners."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.builtin.direct import cited_passages, direct_answer
from engine.errors import ModelError, WorkbenchError
from engine.flow.context import NodeTrace, RunContext, model_of, own_roles
from engine.model.events import AnswerBegun, ContextAssembled
from engine.model.language import language_of
from engine.model.values import Context, Draft
from engine.retrieval.citations import StreamedCitations
from engine.roles import DirectRequest
from engine.workflows.dual_loop.roles import DualRoles
from engine.workflows.dual_loop.steps.parts import drafted
from engine.workflows.steps.citing import Citing

_NODE = "direct_response"


async def direct_response(state: Mapping[str, Any], run: RunContext, trace: NodeTrace) -> dict[str, Any]:
    """Answer from memories that hold; where the model fails, the built-in words stand in for it."""
    question = state["question"]
    request = DirectRequest(question, state["recall"].holding, language_of(question))
    context = Context(())
    run.emit(ContextAssembled(context=context))
    trace.limit_s = max(run.clock.left_s(), run.generation_allowance_s)
    trace.began_s = run.clock.elapsed_s()
    # Markers of a memory stay: they name the passages that its own run cited.
    citing = Citing(trace, StreamedCitations(cited_passages(request)))
    text = await _said(request, run, citing)
    if text is None:
        if trace.text:
            run.emit(AnswerBegun(draft=0))
        citing.citations.restart()
        text = direct_answer(request)
        citing.token(text)
    resolved = citing.complete(text).answer
    draft = Draft(0, resolved.text, resolved.citations, resolved.removed, direct=True)
    return drafted(run, state, draft, context)


async def _said(request: DirectRequest, run: RunContext, citing: Citing[StreamedCitations]) -> str | None:
    """The model's answer; None with a warning where there is none."""
    model, limit_s = model_of(run, "generator"), citing.trace.limit_s
    try:
        async with run.within(limit_s):
            text = await own_roles(run, DualRoles).direct.answer(request, citing)
    except TimeoutError:
        run.warn(ModelError.budget_spent(model=model, seconds=limit_s or 0.0), _NODE)
        return None
    except WorkbenchError as failure:
        run.warn(failure, _NODE)
        return None
    if not text.strip():
        run.warn(ModelError.empty_reply(model=model), _NODE)
        return None
    return text
