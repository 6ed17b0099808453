"""The variables of OpenTelemetry: where runs are sent as spans, and what those hold."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field, SecretStr, field_validator
from pydantic_core import PydanticCustomError

from engine.messages import N_
from engine.model.addresses import like
from plugins.telemetry.header_list import headers_in


class TelemetrySettings(BaseModel):
    """Destination and contents of spans."""

    otlp_endpoint: Annotated[str, like("http://127.0.0.1:6006")] = Field(
        "",
        description=N_(
            "Address that finished runs are sent to as OpenTelemetry spans (OTLP over HTTP), such as an Arize Phoenix "
            "at `http://127.0.0.1:6006`; empty: none is sent. Extra `telemetry`."
        ),
    )
    otlp_headers: SecretStr = Field(
        SecretStr(""),
        description=N_(
            "Headers for that address, such as a key: `name=value`, several with commas, values as in URLs."
        ),
    )
    otlp_content: bool = Field(
        False,
        description=N_(
            "Whether spans hold content: questions, passages, prompts, replies, answers, names of sources, collections "
            "and people. Without it only figures and names of nodes, settings and models are sent."
        ),
    )
    otlp_limited_content: bool = Field(
        False,
        description=N_("Whether that holds for collections that are limited to groups, too."),
    )
    otlp_project: str = Field(
        "rag-workbench", description=N_("Project that an Arize Phoenix puts the spans in; empty: its own default.")
    )
    otlp_phoenix: bool = Field(
        False,
        description=N_("Whether that address is an Arize Phoenix, which is given the judgements as annotations too."),
    )

    @field_validator("otlp_headers")
    @classmethod
    def _header_list(cls, value: SecretStr) -> SecretStr:
        try:
            headers_in(value.get_secret_value())
        except ValueError:
            raise PydanticCustomError("headers", "it must be `name=value`, several with commas") from None
        return value
