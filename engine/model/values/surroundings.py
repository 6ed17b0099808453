"""What stands around a passage in its source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine.model.values.names import PassageId
from engine.model.values.rounds import Passage


@dataclass(frozen=True, slots=True)
class Surrounding:
    """A passage near another one in its source, which no search has to have found."""

    id: PassageId
    source: str
    text: str
    section: str = ""
    title: str = ""
    ordinal: int = 0

    @classmethod
    def of(cls, passage: Passage) -> Surrounding:
        """A passage that a search found, as the surroundings of another one."""
        return cls(passage.id, passage.source, passage.text, passage.section, passage.title, passage.ordinal)

    def as_passage(self) -> Passage:
        """The surroundings as a passage that no search has found."""
        own = (self.id, self.source, self.text, 0.0, 0.0)
        return Passage(*own, section=self.section, title=self.title, ordinal=self.ordinal)


@dataclass(frozen=True, slots=True)
class Around:
    """What a generator is given around one passage, in the order of the source.

    Texts lack what the passage on the inner side repeats of them.
    """

    before: tuple[Surrounding, ...] = ()
    after: tuple[Surrounding, ...] = ()

    @property
    def every(self) -> tuple[Surrounding, ...]:
        return (*self.before, *self.after)

    def around(self, text: str) -> str:
        """A text between what stands before and after it."""
        before, after = (tuple(item.text for item in part) for part in (self.before, self.after))
        return "\n\n".join((*before, text, *after))


NOTHING_AROUND: Mapping[PassageId, Around] = {}
