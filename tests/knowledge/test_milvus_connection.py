"""How the client of a store is connected."""

from __future__ import annotations

from pathlib import Path

from engine.knowledge.milvus_connection import connect, disconnect

_LEAST_MS = 300_000
"""What a gRPC server with default options, as the embedded one is, takes: a client that pings oftener is hung up on."""


def test_an_embedded_store_is_not_pinged_more_often_than_its_server_takes(tmp_path: Path) -> None:
    uri = str(tmp_path / "store.db")
    client = connect(uri, "", 20.0)
    try:
        options = client._get_connection()._grpc_options
    finally:
        disconnect(client, uri)
    assert options["grpc.keepalive_time_ms"] > _LEAST_MS
    assert not options["grpc.keepalive_permit_without_calls"]
