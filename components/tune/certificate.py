"""The card that says which settings keep a risk below a bound, or what is missing for that."""

from __future__ import annotations

from collections.abc import Sequence

from components.common.i18n import Words
from components.common.markup import Node, button, chip, draw, node
from components.tune.figures import p_text, value_text
from engine.evaluation.certify import Certificates, Risk
from engine.evaluation.predicted import Predicted
from engine.messages import N_, NC_

RISKS: dict[Risk, str] = {
    "wrong_given": N_("wrong among answers given"),
    "refused_answerable": N_("answerable refused"),
}

_PROMISE: dict[Risk, str] = {
    "wrong_given": N_("At most {bound} of the answers given are wrong, at {confidence} confidence."),
    "refused_answerable": N_("At most {bound} of the answerable questions are refused, at {confidence} confidence."),
}

_SEEN: dict[Risk, str] = {
    "wrong_given": N_("{failures} of {trials} answers given are wrong."),
    "refused_answerable": N_("{failures} of {trials} answerable questions are refused."),
}

_MORE: dict[Risk, str] = {
    "wrong_given": N_("At least {n} more answers to labelled questions are needed, none of them wrong."),
    "refused_answerable": N_("At least {n} more answerable questions are needed, none of them refused."),
}


def certificate_card(
    found: Certificates, pick: int | None, changed: Sequence[str], current: int | None, words: Words, *, key: str
) -> bool:
    """Draw the card; true when the reader wants to try the certified setting.

    ``pick`` is the place of the certified setting to take, ``changed`` what differs in it from the settings under
    test, ``current`` the place of those under test, None where they are not among the settings tried.
    """
    if pick is None:
        head = node("strong", "heading", words("Not certifiable yet"))
        none = words("None of {tried} settings is shown to keep this bound.", tried=len(found.p))
        draw((node("section", "card", head, node("p", "", none), *_missing(found, current, words)),), words, key=key)
        return False
    head = node("div", "head", node("strong", "heading", promise_text(found, words)), chip("pass", words("certified")))
    count = words(
        "{n} of {tried} settings are certified; of these, this one gives the most answers. The promise holds for "
        "questions drawn like those of this set, and for all certified settings together.",
        n=int(found.certified.sum()),
        tried=len(found.p),
    )
    parts = [
        head,
        node("p", "query", " · ".join(changed) or words("The settings under test.")),
        node("p", "", f"{_seen(found, pick, words)} {p_text(found.p[pick])}"),
        node("p", "muted", count),
    ]
    if current is not None and current != pick and not found.certified[current]:
        parts += _missing(found, current, words)
    if changed:
        parts.append(node("div", "actions", button(words(NC_("tuning", "Try it")), "try", "button primary")))
    return draw((node("section", "card", *parts),), words, key=key) == "try"


def predicted_card(found: Predicted | None, judge: str, words: Words, *, key: str) -> None:
    """Draw what judgements drawn at random and the verdicts of a model say together; nothing where they are too few."""
    if found is None:
        return
    head = node("div", "head", node("strong", "heading", words("Estimated with the help of a model")))
    said = words(
        "About {value} of the {n} answers of this gathering are wrong as people would judge them ({low} – {high}, at "
        "{confidence} confidence).",
        value=_share(found.value),
        n=found.n,
        low=_share(found.low),
        high=_share(found.high),
        confidence=percent(found.confidence),
    )
    of = words(
        "From {judged} judgements drawn at random and {verdicts} verdicts of {judge}; the judgements alone say {low} – "
        "{high}. An estimate: it certifies nothing.",
        judged=found.judged,
        verdicts=found.verdicts,
        judge=judge,
        low=_share(found.alone[0]),
        high=_share(found.alone[1]),
    )
    draw((node("section", "card", head, node("p", "", said), node("p", "muted", of)),), words, key=key)


def _share(share: float) -> str:
    return percent(round(share, 3))


def promise_text(found: Certificates, words: Words) -> str:
    """The sentence that holds of every certified setting."""
    return words(_PROMISE[found.risk], bound=percent(found.bound), confidence=percent(found.confidence))


def percent(share: float) -> str:
    """Write a share as a percentage: ``12.5 %``."""
    return f"{round(100 * share, 6):g} %"


def _seen(found: Certificates, place: int, words: Words) -> str:
    return words(_SEEN[found.risk], failures=int(found.failures[place]), trials=int(found.trials[place]))


def _missing(found: Certificates, place: int | None, words: Words) -> list[Node]:
    """What the settings under test lack; nothing where they were not tried."""
    if place is None:
        return [node("p", "muted", words("The settings under test lie between those that were tried."))]
    said = [words("Settings under test:"), _seen(found, place, words)]
    if unrecorded := int(found.unrecorded[place]):
        text = words.count(
            "1 answer is not recorded under them; gather with these settings to have it.",
            "{n} answers are not recorded under them; gather with these settings to have them.",
            unrecorded,
        )
        return [node("p", "muted", words.joined([*said, text]))]
    trials = int(found.trials[place])
    share = int(found.failures[place]) / trials if trials else 0.0
    more = found.more(place)
    if share > found.bound:
        said.append(words("That is {share}, more than the bound.", share=value_text("wrong_given", share)))
    elif more:
        said.append(words(_MORE[found.risk], n=more))
    else:
        said.append(words("Alone they would pass; a stricter setting did not, and ended the sequence."))
    return [node("p", "muted", words.joined(said))]
