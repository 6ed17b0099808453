"""Attachments read in a process of their own: what breaks, hangs or fills the memory there hurts nothing else."""

from __future__ import annotations

import atexit
from typing import Literal

from engine.attachments.admission import KINDS_SHOWN
from engine.errors import (
    AttachmentDamaged,
    AttachmentEmpty,
    AttachmentUnsupported,
    ReadingFailed,
    ReadingTimedOut,
    SourceDamaged,
    SourceEmpty,
    SourceEncoding,
    SourceMislabelled,
    SourceTimedOut,
    SourceTooDemanding,
    SourceUnreadable,
)
from engine.knowledge.loaders.subprocess_reader import Readers

TIME_LIMIT_S = 60.0
"""For one attachment; a full page takes 1 to 3 s of two cores."""
IDLE_S = 120.0
"""The process holds some 400 MB once it has recognised text, and a second or two of loading."""

READERS = Readers(most=1, idle_s=IDLE_S, module="engine.attachments.worker")
"""Of this process; one at a time, for text recognition uses all cores."""
atexit.register(READERS.close)


def read_in_subprocess(
    kind: Literal["table", "ocr", "jpeg", "thumbnail"], name: str, data: bytes, seconds: float = TIME_LIMIT_S
) -> str:
    """What :func:`engine.attachments.worker.read` finds; blocks, and waits for a reader before ``seconds`` begin.

    Raises ``AttachmentError``, and ``SourceBomb`` or ``SourceEncrypted`` for workbooks that are never opened.
    """
    try:
        contents = READERS.read(kind, name, data, seconds)
    except SourceTimedOut as error:
        raise ReadingTimedOut(seconds=seconds) from error
    except (SourceTooDemanding, SourceUnreadable) as error:
        raise ReadingFailed() from error
    except SourceEmpty as error:
        raise AttachmentEmpty.table(table=name) from error
    except SourceDamaged as error:
        raise AttachmentDamaged(name=name) from error
    except (SourceEncoding, SourceMislabelled) as error:
        raise AttachmentUnsupported(name=name, kinds=KINDS_SHOWN) from error
    return contents.sections[0].text if contents.sections else ""
