"""Tools for settings: what there are, and which would have done best over gathered questions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, Field

from engine.engine import Engine
from engine.errors import EvaluationError, InvalidConfig
from engine.evaluation.values import Batch
from engine.flow import workflow
from engine.messages import CONTEXT_END
from engine.model.config import USUAL, WORKFLOWS, Setting, WorkflowName, every_setting, settings_of
from engine.replay.settings import COLUMNS
from plugins.mcp.configs import differences
from plugins.mcp.declared import InLanguage, Tools, tool, with_numbers
from plugins.mcp.results import (
    Batches,
    BatchLine,
    Bounded,
    SavedSaid,
    SettingSaid,
    SettingsKnown,
    Swept,
    Tried,
    cut,
)

if TYPE_CHECKING:
    from engine.evaluation.figures import Figure
    from engine.evaluation.sweep import Sweep

_LONGEST_HELP = 160
_MOST_BATCHES = 10
_MOST_TRIED = 2000
_MOST_SHOWN = 8

Values = Annotated[list[float | int | str], Field(min_length=1, max_length=50)]


class Tuning(Tools):
    """Settings, and what they are worth over many questions."""

    @tool("List settings")
    def list_settings(
        self, for_workflow: Annotated[WorkflowName, Field(description="whose settings")] = USUAL
    ) -> SettingsKnown:
        """List the settings of a run, with their ranges, and the saved ones."""
        names = [name for name in settings_of(for_workflow) if name in every_setting()]
        own = workflow(for_workflow).own_settings
        said = [_setting(name, every_setting()[name]) for name in names]
        saved = [
            SavedSaid(name=name, collection=item.collection, workflow=item.workflow, settings=differences(item))
            for name, item in self._bench.engine.evaluation.settings().items()
        ]
        options = [_setting(f"options.{name}", item) for name, item in own.items()]
        return SettingsKnown(settings=[*said, *options], saved=saved, workflows=list(WORKFLOWS))

    @tool("List gatherings")
    def list_batches(self, query_set: Annotated[str, Field(description="only those of this set")] = "") -> Batches:
        """List batches, newest first: the runs of a query set under one setting, which a sweep reads."""
        store = self._bench.engine.evaluation
        found = store.batches(query_set or None)
        lines = [
            BatchLine(
                batch_id=item.id,
                query_set=item.set_name,
                collection=item.config.collection,
                created_at=item.created_at,
                questions=item.total,
                done=len(item.done),
                failed=len(item.failures),
            )
            for item in found[:_MOST_BATCHES]
        ]
        return Batches(batches=lines, more=max(0, len(found) - _MOST_BATCHES), query_sets=list(store.query_sets()))

    @tool("Sweep settings")
    def sweep(
        self,
        axes: Annotated[
            dict[str, Values],
            BeforeValidator(with_numbers),
            Field(description="values to try, by setting: one to three of those that need no calls", min_length=1),
        ],
        batch_id: Annotated[str, Field(description="empty: the newest one")] = "",
        query_set: Annotated[str, Field(description="the newest batch of this set")] = "",
        language: InLanguage = "en",
    ) -> Swept:
        """Try every combination of some settings on the runs of a batch, without a call, and recommend one.

        What is recommended is compared with the settings of the batch, and it says how sure that is.
        """
        engine = self._bench.engine
        batch = engine.evaluation.batch(batch_id) if batch_id else _newest(engine, query_set)
        return self._swept(engine, batch, axes, language)

    def _swept(self, engine: Engine, batch: Batch, axes: dict[str, Any], language: Any) -> Swept:
        # Imported here: what measures is not needed to ask.
        from engine.evaluation.recommend import recommend
        from engine.evaluation.sweep import MAX_AXES, Axis, front
        from engine.evaluation.sweep import sweep as swept_over

        _require_columns(axes, MAX_AXES)
        before = batch.config
        made = swept_over(
            engine.batches.evidence(batch.id), before, [Axis(name, tuple(item)) for name, item in axes.items()]
        )
        if not len(made.evidence):
            raise EvaluationError.nothing_gathered()
        found = recommend(made, before)
        base = swept_over(made.evidence, before, [Axis("top_k", (before.top_k,))])
        best = front(made).settings[:_MOST_SHOWN]
        stays = found.setting is None or found.choice in ("too_poor", "baseline_stays")
        return Swept(
            batch_id=batch.id,
            query_set=batch.set_name,
            questions=len(made.evidence),
            combinations=len(made.configs),
            compared=found.tried,
            recommendation=self._bench.telling.recommendation(found, before, language),
            choice=found.choice,
            measurably_better=found.better,
            settings={} if stays else differences(found.config, before),
            recommended=None if stays or found.setting is None else _tried(made, found.setting),
            compared_with=_tried(base, 0),
            front=[_tried(made, place) for place in best],
        )


def _newest(engine: Engine, query_set: str) -> Batch:
    found = engine.evaluation.batches(query_set or None)
    if not found:
        raise EvaluationError.nothing_gathered()
    return found[0]


def _require_columns(axes: dict[str, Any], most: int) -> None:
    """Raise ``InvalidConfig`` for what a sweep cannot try without calls, or not in a moment."""
    for name in axes:
        if name not in COLUMNS:
            raise InvalidConfig.not_one_of(field=f"axes.{name}", allowed=COLUMNS)
    if len(axes) > most:
        raise InvalidConfig.out_of_range(field="the number of axes", low=1, high=most)
    if math.prod(len(values) for values in axes.values()) > _MOST_TRIED:
        raise InvalidConfig.out_of_range(field="the number of combinations", low=1, high=_MOST_TRIED)


def _tried(made: Sweep, place: int) -> Tried:
    from engine.evaluation.recommend import rejected_given

    quality, steps = (made.evaluation.figure(measure, place) for measure in ("quality", "steps"))
    config = made.configs[place]
    return Tried(
        settings=differences(config, made.base),
        quality=_rounded(quality.value),
        quality_bounds=_bounded(quality),
        steps=_rounded(steps.value),
        steps_bounds=_bounded(steps),
        unknown=int(made.evaluation.unknown_n[place]),
        rejected_given=int(rejected_given(made.evidence, [config])[0]),
    )


def _bounded(figure: Figure) -> Bounded:
    return Bounded(lower=_rounded(figure.lower), upper=_rounded(figure.upper), known_n=figure.known_n, n=figure.n)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _setting(name: str, setting: Setting) -> SettingSaid:
    limits, name_said = setting.limits, setting.name.rpartition(CONTEXT_END)[2]
    allowed = f"{limits.low:.10g} to {limits.high:.10g}" if limits else ", ".join(setting.choices) or "true, false"
    return SettingSaid(
        name=name,
        meaning=cut(": ".join(part for part in (name_said, setting.help) if part), _LONGEST_HELP),
        default=setting.default,
        allowed=allowed,
        without_calls=name in COLUMNS,
    )
