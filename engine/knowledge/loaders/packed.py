"""Files that are packed by themselves (gzip), read as what their name says without its last suffix."""

from __future__ import annotations

import gzip
import io
import zlib

from engine.errors import SourceDamaged, SourceError, SourceUnsupported
from engine.knowledge.loaders.contents import Contents
from engine.knowledge.loaders.kinds import loader_of, suffix_of
from engine.knowledge.loaders.office import ALWAYS_ALLOWED_MB, MOST_RATIO, MOST_UNPACKED_MB
from engine.messages import N_


def load_packed(name: str, data: bytes, hidden: bool = False) -> Contents:
    """Read the file inside an archive; raises ``SourceUnsupported`` if several are packed as one."""
    inner = name[: -len(suffix_of(name))]
    if suffix_of(inner) == ".tar":
        raise SourceUnsupported.save_as(name=name, suffix=".zip")
    limit_mb = min(MOST_UNPACKED_MB, max(ALWAYS_ALLOWED_MB, MOST_RATIO * len(data) / 1e6))
    try:
        with gzip.open(io.BytesIO(data)) as file:
            unpacked = file.read(int(limit_mb * 1e6) + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise SourceDamaged.named(name=name, found=N_("its archive is cut short or broken")) from error
    if len(unpacked) > limit_mb * 1e6:
        raise SourceError.unpacks_too_large(name=name, size_mb=f"{len(unpacked) / 1e6:.0f}", limit_mb=round(limit_mb))
    return loader_of(inner)(name, unpacked, hidden)
