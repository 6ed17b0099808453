"""What people and models say of passages and answers, kept by question."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from engine.evaluation import judgements
from engine.evaluation.store_database import OpenedStore, now
from engine.evaluation.values import AnswerJudgement, Drawing, Label
from engine.messages import N_
from engine.model.values import PassageId
from engine.people import current_user
from engine.people.authorization import needs


class JudgementStore(OpenedStore):
    """Judgements, one for each judge; several processes may use it at once."""

    @needs("editor", log=N_("Passage judged"), on=("passage_id",))
    def set_label(
        self,
        question: str,
        passage_id: str,
        relevant: bool | None,
        *,
        explanation: str = "",
        drawn: Drawing = "",
        judge: str = "",
    ) -> None:
        """Say whether a passage helps to answer a question; None takes back what this judge said.

        Each ``judge``, a name that people give themselves, has a judgement of their own; who signed in and gives none
        judges under their own. For ``drawn`` see ``Label``. Raises ``NotAllowed`` under the name of another person.
        """
        author = current_user().author
        label = Label(
            *(question, PassageId(passage_id), bool(relevant), now(), author), explanation, drawn, judge or author
        )
        with self._writing() as connection:
            judgements.take_label(connection, label) if relevant is None else judgements.put_labels(connection, [label])

    @needs("viewer")
    def labels(self, *questions: str) -> tuple[Label, ...]:
        """Labels of these questions, by question, passage and judge.

        Not of all: which questions were asked of a collection is not for everybody, and a label names no collection.
        """
        with self._reading() as connection:
            return judgements.labels(connection, questions)

    @needs("editor", log=N_("Answer judged"), on=("judgement.question",))
    def judge_answer(self, judgement: AnswerJudgement) -> AnswerJudgement:
        """Keep what a person or a model says of an answer, in the place of what the same one said of it before.

        Returns it with the present time, and the author where people sign in. Raises ``NotAllowed`` under the name of
        another person.
        """
        kept = replace(judgement, judged_at=now(), author=current_user().author)
        with self._writing() as connection:
            judgements.put_answers(connection, [kept])
        return kept

    @needs("editor", log=N_("Judgements imported"), on=("set_name",))
    def take_judgements(self, set_name: str, labels: Iterable[Label], answers: Iterable[AnswerJudgement]) -> None:
        """Keep a set's judgements from another tool, with the present time: all of them, or none if that fails."""
        at, author = now(), current_user().author
        with self._writing() as connection:
            judgements.put_labels(connection, [replace(item, labelled_at=at, author=author) for item in labels])
            judgements.put_answers(connection, [replace(item, judged_at=at, author=author) for item in answers])

    @needs("viewer")
    def answer_judgements(self, *answers: tuple[str, str]) -> tuple[AnswerJudgement, ...]:
        """Return the judgements of these pairs of question and answer, by pair, kind and judge.

        Not of all: an answer says what stands in a collection, and only who has it may read what was said of it.
        """
        with self._reading() as connection:
            return judgements.answers(connection, answers, self._damaged_entry)

    @needs("editor", log=N_("Judgement of an answer taken back"), on=("judgement.question",))
    def remove_answer_judgement(self, judgement: AnswerJudgement) -> None:
        """Take back what one judge said of an answer; nothing happens where there is no such judgement.

        Raises ``NotAllowed`` for one of another person.
        """
        with self._writing() as connection:
            judgements.take_answer(connection, judgement)
