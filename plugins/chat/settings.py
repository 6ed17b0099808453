"""The variable of the API for chat programs."""

from __future__ import annotations

from pydantic import BaseModel, Field

from engine.messages import N_


class ChatSettings(BaseModel):
    """Whether chat programs are served."""

    openai_api: bool = Field(
        False,
        description=N_(
            "Whether `/v1` serves saved settings as models to programs that speak OpenAI's chat protocol, such as Open "
            "WebUI."
        ),
    )
