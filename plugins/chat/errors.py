"""Requests of chat programs that cannot be met as they are."""

from __future__ import annotations

from engine.errors.base import WorkbenchError
from engine.messages import N_

# A chat request asks for something else than an answer of the tuned pipeline; ``field`` names what does.
PARAMETER = WorkbenchError.row(
    N_("{field} as it was sent is not supported: the settings of the model decide how it answers."),
    N_("Leave {field} out."),
    code="WB990",
    status=400,
)
NO_QUESTION = WorkbenchError.row(
    N_("The last message is not a question of a user."),
    N_("Send the question as the last message, with the role `user`."),
    code="WB990",
    status=400,
    field="messages",
)
IMAGE_ADDRESS = WorkbenchError.row(
    N_("Images are taken as data; none is fetched from an address."),
    N_("Send the image as a `data:` URL in base64."),
    code="WB990",
    status=400,
    field="messages",
)
OTHER_PART = WorkbenchError.row(
    N_("A message holds something other than text and images."),
    N_("Send text, and images as `data:` URLs; put documents into a collection on the page Knowledge."),
    code="WB990",
    status=400,
    field="messages",
)
BRINGS_DOCUMENTS = WorkbenchError.row(
    N_("The chat program has put documents into the message; this model answers from its own collection alone."),
    N_("Put the documents into a collection on the page Knowledge, and send the question by itself."),
    code="WB990",
    status=400,
    field="messages",
)
UNKNOWN_MODEL = WorkbenchError.row(
    N_("There is no model {model!r} here."),
    N_("Choose one of `GET /v1/models`: settings saved on the page Tune, or `default`."),
    code="WB991",
    status=404,
)
RUN_STOPPED = WorkbenchError.row(
    N_("The run was stopped before its answer was complete."),
    N_("Ask again; the run itself shows how far it came."),
    code="WB992",
    status=409,
)
