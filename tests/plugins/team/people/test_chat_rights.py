"""Models whose collection is limited: for others there are none, however they ask (CH-01, TM-14)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engine.people import acting_as
from engine.records import CHAT
from tests.plugins.team.people.ward import MEMBER, OUTSIDER, QUESTION, SECRET, Ward, cookie
from tests.support.people import EDITOR

pytest.importorskip("plugins.chat.api")

ASKED = {"model": "for the ward", "messages": [{"role": "user", "content": QUESTION}]}


def asked(ward: Ward, headers: dict[str, str], **more: Any) -> Any:
    return ward.client.post("/v1/chat/completions", json={**ASKED, **more}, headers=headers)


def test_a_member_lists_the_model_and_others_do_not(ward: Ward) -> None:
    def ids(headers: dict[str, str]) -> list[str]:
        return [item["id"] for item in ward.client.get("/v1/models", headers=headers).json()["data"]]

    assert ids(cookie(MEMBER)) == ["default", "for the ward"]
    assert ids(cookie(OUTSIDER)) == ["default"]
    assert ids(ward.token(collections=["ward"])) == ["for the ward"]


@pytest.mark.parametrize("stream", [False, True])
def test_who_may_not_read_the_collection_reads_that_there_is_no_such_model(ward: Ward, stream: bool) -> None:
    for headers in (ward.token(), ward.token(collections=["samples"])):
        refused, unknown = asked(ward, headers, stream=stream), asked(ward, headers, stream=stream, model="made up")
        assert (refused.status_code, unknown.status_code) == (404, 404)
        assert refused.json()["error"]["code"] == unknown.json()["error"]["code"]
        assert SECRET not in refused.text


def test_a_token_that_names_the_collection_gets_the_answer_and_is_the_author_of_the_run(ward: Ward) -> None:
    answer = asked(ward, ward.token(collections=["ward"]))
    assert answer.status_code == 200
    assert "rounds begin" in answer.text
    with ward.as_(MEMBER):
        record = ward.engine.record(answer.json()["workbench"]["run"])
        assert record.author.startswith("token ")
        assert record.id in [item.id for item in ward.engine.runs(tag=CHAT)]
    with acting_as(ward.engine.limits.admitted(EDITOR)):
        assert record.id not in [item.id for item in ward.engine.runs(500)]


def test_a_cookie_asks_nothing(ward: Ward) -> None:
    refused = asked(ward, cookie(MEMBER))
    assert (refused.status_code, refused.json()["error"]["type"]) == (401, "authentication_error")
    assert refused.headers["www-authenticate"].startswith("Bearer")
    assert json.loads(refused.text)["error"]["message"]
