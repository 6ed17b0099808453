"""Roles of a branch: they answer from the run it parted from, and ask the real ones only for what that never asked.

A reply that was received is evidence, an unreadable verdict included; a failure is not, and is tried again. What is
reused is reported as a cached call, so that nothing is hidden and nothing is paid for twice.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from engine.flow.context import NodeTrace, Roles, RunContext, Step
from engine.model.config import RoleName
from engine.replay import replay_of
from engine.replay.course import ReplayPath, Unrecorded
from engine.replay.fork import Branch
from engine.replay.frozen import FrozenRounds

_ROLE_OF: Mapping[str, RoleName] = {
    "rewrite": "rewriter",
    "split": "rewriter",
    "translate": "rewriter",
    "generate": "generator",
    "write": "generator",
    "answer": "generator",
    "evaluate": "evaluator",
    "route": "router",
    "choose": "router",
    "analyse": "router",
    "rerank": "reranker",
    "refine": "refiner",
}
"""Methods of roles that ask a model, and which one."""


class BranchSteps:
    """The steps of a branch: those before it stand, and the others see the record through their roles."""

    def __init__(self, branch: Branch, roles: Roles) -> None:
        self._branch = branch
        self._replay = replay_of(branch.evidence, branch.config)
        self._replay.begin()
        self._replay.evidence.by_hand |= branch.by_hand
        self._frozen = FrozenRounds(
            replay_of(branch.parent, branch.parent.config).begin(), branch.fork, branch.evidence
        )
        self._visits: Counter[str] = Counter()
        recorded = self._replay.driver.run.roles
        recorded.grader.behind = roles.grader
        self.roles: Roles = _behind(recorded, roles, self)
        self.trace: NodeTrace | None = None
        self._repeated: set[RoleName] = set()

    def __call__(self, node: str, round_index: int) -> Step | None:
        """Replace a node's own step."""
        stands = self._frozen(node, round_index)
        self._visits[node] += 1
        visits = {node: self._visits[node]}
        if stands is not None:
            return stands

        async def step(state: Mapping[str, Any], run: RunContext, trace: NodeTrace) -> dict[str, Any]:
            course = ReplayPath(dict(state), [], node=node, visits=visits, live=True, as_recorded=False)
            self._replay.driver.course, self.trace, self._repeated = course, trace, set()

            def emit(event: Any) -> None:
                course.events.append(event)
                run.emit(event)

            changed: dict[str, Any] = await self._replay.driver.flow.nodes[node].step(
                state, replace(run, emit=emit), trace
            )
            return changed

        return step

    def repeat(self, role: RoleName) -> None:
        """Report the recorded calls of a role at this place as answered from the record."""
        course, trace = self._replay.driver.course, self.trace
        if trace is None or role in self._repeated:
            return
        self._repeated.add(role)
        calls = [item for item in self._branch.parent.model_calls if item.role == role and item.node == course.node]
        place = course.source_round if course.source_round >= 0 else trace.round
        here = [item for item in calls if item.round == place]
        for call in here or (calls if role in ("generator", "refiner") else ()):
            trace.call(replace(call, cached=True, start_ms=trace.now_ms(), duration_ms=0.0))


def _behind(recorded: Any, real: Any, steps: BranchSteps) -> Any:
    """The same group of roles, each recorded one before its real one."""
    changed: dict[str, Any] = {}
    for item in fields(real):
        mine, theirs = getattr(recorded, item.name), getattr(real, item.name)
        if mine is None or theirs is None:
            continue
        if item.name == "own":  # what only this workflow has: roles again
            changed[item.name] = _behind(mine, theirs, steps)
        elif not isinstance(theirs, str) and not inspect.isroutine(theirs):
            changed[item.name] = _Before(mine, theirs, steps)
    return replace(real, **changed)


class _Before:
    """A recorded role, and the real one behind it."""

    def __init__(self, recorded: Any, real: Any, steps: BranchSteps) -> None:
        self._recorded = recorded
        self._real = real
        self._steps = steps

    def __getattr__(self, name: str) -> Any:
        real = getattr(self._real, name)
        if not inspect.iscoroutinefunction(real):
            return real
        recorded = getattr(self._recorded, name)

        async def answer(*args: Any, **named: Any) -> Any:
            try:
                said = await recorded(*args, **named)
            except Unrecorded:
                return await real(*args, **named)
            if name in _ROLE_OF:
                self._steps.repeat(_ROLE_OF[name])
            return said

        return answer
