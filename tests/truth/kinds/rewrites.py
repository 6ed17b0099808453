"""Why a query was changed: the terms that the page names are those of the record, and what it says of them is so."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from components.ask.rewrites import rewrite_why
from components.common.i18n import Words
from engine.model.values import Rewrite, RunRecord
from tests.truth.claims import Claim


def claims(record: RunRecord, words: Words) -> Iterator[Claim]:
    for rewrite in record.rewrites:
        said = rewrite_why(rewrite, record, words)
        yield Claim(said, tuple(_wrong(said, rewrite, record)))


def _wrong(said: str, rewrite: Rewrite, record: RunRecord) -> Iterator[str]:
    if rewrite.failed:
        if rewrite.reason not in said:
            yield "the fault is not that of the record"
        return
    if rewrite.repeated:
        if not rewrite.refused and record.config.models.rewriter.built_in:
            yield "nothing was refused"
        return
    if not record.config.models.rewriter.built_in:
        if said != rewrite.reason:
            yield "a model's reason is not given in its own words"
        return
    if record.workflow == "quality_loop":
        return
    named, recorded = _terms(said), _terms(rewrite.reason)
    if named != recorded:
        yield f"the page names {named}, the record {recorded}"
    query = _folded(rewrite.rewritten_query)
    yield from (f"the query does not hold {term!r}" for term in named if _folded(term) not in query)
    if "come first" in said or "最前" in said:
        if not query.startswith(_folded(" ".join(named))):
            yield "the terms do not come first"
        if "answer" not in said and "回答" not in said:
            yield from (f"no failed passage lacks {term!r}" for term in named if not _lacked(term, rewrite, record))
    if ("did not pass" in said and "were added" in said) or "相近句子" in said:
        failed = _folded(" ".join(_failed(rewrite, record)))
        yield from (f"no failed passage holds {term!r}" for term in named if _folded(term)[:5] not in failed)
    if ("Greetings" in said or "寒暄" in said) and query.removesuffix(_folded(" ".join(named))).strip() not in _folded(
        rewrite.query
    ):
        yield "more than small talk was changed"
    if "of the question" in said or "问题里" in said:
        asked = _folded(record.question)
        yield from (f"the question does not ask for {term!r}" for term in named if _folded(term) not in asked)


def _terms(sentence: str) -> tuple[str, ...]:
    named = re.search(r"[:：]\s*([^:：]*?)[.。]?$", sentence)
    return tuple(re.split(r", |、", named.group(1))) if named else ()


def _failed(rewrite: Rewrite, record: RunRecord) -> list[str]:
    """Texts of the kept passages of the failed round whose verdict does not pass."""
    current = next(item for item in record.rounds if item.index == rewrite.round)
    bar = record.config.min_confidence
    kept = [item.passage for item in current.candidates if item.gate == "kept"]
    return [item.text for item in kept if item.id in current.verdicts and not current.verdicts[item.id].passes(bar)]


def _lacked(term: str, rewrite: Rewrite, record: RunRecord) -> bool:
    whole = re.escape(_folded(term))
    pattern = whole if re.search(r"[\u3400-\u9fff]", term) else rf"\b{whole}\b"
    return any(not re.search(pattern, _folded(text)) for text in _failed(rewrite, record))


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()
