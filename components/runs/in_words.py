"""Runs, what-ifs and diagnoses as plain sentences, for programs that read no pages."""

from __future__ import annotations

from collections.abc import Sequence

from components.ask.admitted import admits_text
from components.ask.diagnosis import title, why_text
from components.ask.origin import explanation, note_texts, origin_text
from components.ask.what_if_text import boundary_text, sentence_text
from components.common.i18n import UiLanguage, words_for
from components.common.outcomes import ended_text
from components.common.phrases import decision_text, fault_text
from components.common.run_settings import setting_label, setting_text
from components.sentences.recommendation import recommendation_text
from components.sentences.steps import sentence
from engine.evaluation.recommend import Recommendation
from engine.model.config import RunConfig
from engine.model.events import Event
from engine.model.settings_difference import settings_difference
from engine.model.values import Decision, Fault, RunRecord
from engine.replay import WhatIf
from engine.replay.decision_boundaries import DecisionBoundary
from engine.replay.diagnosis import Diagnosis
from engine.replay.playback import steps


class InWords:
    """Page sentences for these values, without markup."""

    def steps(self, record: RunRecord, events: Sequence[Event], language: UiLanguage) -> list[str]:
        """Describe a run, one sentence a step."""
        words = words_for(language)
        sentences = [sentence(step, record, words) for step in steps(events)]
        if record.origin is None:
            return sentences
        return [origin_text(record.origin, words), explanation(words), *sentences, *note_texts(record, words)]

    def ending(self, record: RunRecord, language: UiLanguage) -> str:
        """Describe how a run ended in a few words."""
        return ended_text(record, words_for(language))

    def decision(self, decision: Decision, record: RunRecord, language: UiLanguage) -> str:
        """The inequality that decided, and where it led."""
        return decision_text(decision, record.workflow, words_for(language))

    def what_if(self, found: WhatIf, record: RunRecord, language: UiLanguage) -> str:
        """Describe the effect of other settings on a run."""
        words = words_for(language)
        ended = sentence_text(found, record, words)
        admits = admits_text(found.admits, words)
        return words.joined(part for part in (ended.replace("**", ""), admits) if part)

    def diagnosis(self, found: Diagnosis, language: UiLanguage) -> str:
        """Describe the diagnosis of a run with its figures."""
        words = words_for(language)
        return words("{name}: {text}", name=title(found, words), text=why_text(found, words))

    def change(self, boundary: DecisionBoundary, language: UiLanguage) -> str:
        """The change of one setting, and where it leads."""
        return boundary_text(boundary, words_for(language))

    def recommendation(self, found: Recommendation, before: RunConfig, language: UiLanguage) -> list[str]:
        """Describe the settings a sweep recommends over ``before``, and with what confidence."""
        words = words_for(language)
        changed = [
            f"{setting_label(item.name, words)} {setting_text(item.name, item.b, words)}"
            for item in settings_difference(before, found.config)
        ]
        return recommendation_text(found, changed, words)

    def fault(self, fault: Fault, language: UiLanguage) -> str:
        """Describe a fault and its remedy."""
        words = words_for(language)
        return words.joined(part for part in fault_text(fault, words) if part)
