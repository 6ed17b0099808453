"""The variables of the API for chat programs."""

from __future__ import annotations

from pydantic import BaseModel, Field

from engine.messages import N_
from engine.model.addresses import WebAddress


class ChatSettings(BaseModel):
    """Whether chat programs are served, and under which address."""

    openai_api: bool = Field(
        False,
        description=N_(
            "Whether `/v1` serves saved settings as models to programs that speak OpenAI's chat protocol, such as Open "
            "WebUI."
        ),
    )
    public_url: WebAddress = Field(
        "",
        description=N_(
            "Address under which people open the workbench, for links in answers to other programs; empty: the one "
            "that the program asked at."
        ),
    )
