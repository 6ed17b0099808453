"""A small documentation tree for drafting, and its passages."""

from __future__ import annotations

from engine.knowledge.ingest import IngestItem, cut
from engine.library.values import DEFAULT_CHUNKS
from engine.roles import StoredPassage

BACKUP = """# Backup Guide

A Snapshot Chain (SC) is kept for every disk.

`chain.keeper` is a background service that removes snapshots which no chain needs.

Snapshots are kept for 30 days.

## server.port

- Type: `number`
- Default: `8123`

Specify the port on which the backup server listens for its clients.

## server.host

- Type: `string`

Specify the address on which the backup server listens for its clients.

## Restoring a Disk

To restore a disk from a snapshot, run the restore command with its name. The disk must not be mounted while that runs.

If `server.port` is already in use, the server exits with code 3.
"""
LIMITS = """# Limits

| Name | Default | Description |
| --- | --- | --- |
| max_chains | 64 | How many chains the server keeps open at once. |
| chunk_size | 4 MB | How much is read from a disk in one piece. |
"""
CHINESE = """# 备份指南

快照链是一种按时间保存磁盘状态的记录方式。

每个快照最多保留 30 天。

## 恢复磁盘

要从快照恢复磁盘，请运行恢复命令并给出快照名称，运行期间磁盘不能处于挂载状态。

如果磁盘空间不足，恢复命令会在写入之前退出。
"""
CLIENTS = "# Clients\n\nA client finds `server.host` in its settings. Its own limits are told elsewhere.\n"
FILES = {"backup.md": BACKUP, "clients.md": CLIENTS, "limits.md": LIMITS, "备份.md": CHINESE}
ITEMS = tuple(IngestItem(name, data=text.encode()) for name, text in FILES.items())


def passages(**files: str) -> list[StoredPassage]:
    """What ingestion cuts some files into; without any, those of this tree."""
    found: list[StoredPassage] = []
    items = [IngestItem(f"{name}.md", data=text.encode()) for name, text in files.items()] or list(ITEMS)
    for place, item in enumerate(items):
        found += cut(place, item, 1.0, DEFAULT_CHUNKS)[1]
    return found
