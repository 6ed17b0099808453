"""What this machine has: variables, ``.env`` and ``workbench.toml``, and what is wrong with them said by name."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import SecretStr

from engine.errors import InvalidSettings
from engine.settings import Settings


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that ``.env`` and ``workbench.toml`` are read from."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refused() -> InvalidSettings:
    with pytest.raises(InvalidSettings) as caught:
        Settings.load()
    return caught.value


def test_a_mistyped_variable_is_refused_with_the_nearest_known_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_MILVUS_URL", "http://127.0.0.1:19530")
    error = refused()
    assert "WORKBENCH_MILVUS_URL" in error.fact
    assert "WORKBENCH_MILVUS_URI" in error.remedy
    assert error.params == {"name": "WORKBENCH_MILVUS_URL", "nearest": "WORKBENCH_MILVUS_URI"}


def test_a_variable_counts_whatever_its_case(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("workbench_port", "9000")
    assert Settings.load().port == 9000
    monkeypatch.setenv("workbench_prot", "9000")
    assert "WORKBENCH_PORT" in refused().remedy


def test_variables_of_the_tests_and_of_other_programs_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_TEST_ALL", "1")
    monkeypatch.setenv("WORKBENCHES", "2")
    assert Settings.load() == Settings()


def test_an_unknown_key_of_the_toml_file_is_refused(folder: Path) -> None:
    (folder / "workbench.toml").write_text("port = 9000\n")
    assert Settings.load().port == 9000
    (folder / "workbench.toml").write_text('embeding_model = "hashing"\n')
    error = refused()
    assert "embeding_model" in error.fact
    assert "embedding_model" in error.remedy


def test_a_table_in_the_toml_file_is_an_unknown_key(folder: Path) -> None:
    (folder / "workbench.toml").write_text("[workbench]\nport = 9000\n")
    assert "workbench" in refused().fact


def test_only_our_keys_count_in_an_env_file(folder: Path) -> None:
    (folder / ".env").write_text("OPENAI_API_KEY=x\nPORT=1\nWORKBENCH_PORT=9000\n")
    assert Settings.load().port == 9000
    (folder / ".env").write_text("WORKBENCH_HOTS=127.0.0.1\n")
    assert "WORKBENCH_HOST" in refused().remedy


def test_the_environment_stands_above_the_env_file_and_that_above_the_toml_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "workbench.toml").write_text('port = 1\nhost = "a"\nollama_keep_alive = "1m"\n')
    (folder / ".env").write_text("WORKBENCH_PORT=2\nWORKBENCH_HOST=b\n")
    monkeypatch.setenv("WORKBENCH_PORT", "3")
    settings = Settings.load()
    assert (settings.port, settings.host, settings.ollama_keep_alive) == (3, "b", "1m")


@pytest.mark.parametrize(("name", "content"), [("workbench.toml", b"port = \n"), (".env", b"WORKBENCH_HOST=\xff\n")])
def test_a_file_that_cannot_be_read_is_said_and_not_a_traceback(folder: Path, name: str, content: bytes) -> None:
    (folder / name).write_bytes(content)
    assert name in refused().fact


def test_an_unknown_override_is_refused() -> None:
    with pytest.raises(InvalidSettings, match="data_dir"):
        Settings.load(datadir="x")


@pytest.mark.parametrize(
    "model", ["builtin", "hashing", "ollama:nomic-embed-text", "ollama:qwen3:0.6b", "local:e.gguf"]
)
def test_an_embedding_model_that_can_be_used_is_taken(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_EMBEDDING_MODEL", model)
    assert Settings.load().embedding_model == model


@pytest.mark.parametrize("model", ["", "nomic-embed-text", "ollama:", "local: ", "openai:text-embedding-3-small"])
def test_a_setting_that_names_no_embedding_model_is_refused_and_not_replaced(
    model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name without its provider must not quietly build a collection with the built-in model."""
    monkeypatch.setenv("WORKBENCH_EMBEDDING_MODEL", model)
    error = refused()
    assert "WORKBENCH_EMBEDDING_MODEL" in error.fact
    assert "`ollama:MODEL`" in error.fact
    assert "Value error" not in error.fact


@pytest.mark.parametrize(("token", "kept"), [("", "root:Sec/ret@1"), ("of-its-own", "of-its-own")])
def test_a_login_in_the_address_of_milvus_becomes_the_token_and_is_shown_nowhere(
    token: str, kept: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORKBENCH_MILVUS_URI", "http://root:Sec%2Fret%401@milvus:19530")
    monkeypatch.setenv("WORKBENCH_MILVUS_TOKEN", token)
    settings = Settings.load()
    assert (settings.milvus_uri, settings.store_uri) == ("http://milvus:19530",) * 2
    assert settings.milvus_token_of("http://milvus:19530") == kept
    assert "ret@1" not in repr(settings) and "of-its-own" not in repr(settings)


def test_a_database_is_for_a_server_and_a_space_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was kept without one stays where it is."""
    plain = Settings(milvus_uri="http://one:1")
    team = Settings(milvus_uri="http://one:1", milvus_database="team_a")
    assert (plain.store_space, team.store_space) == ("http://one:1", "http://one:1/team_a")
    assert Settings(milvus_uri="http://one:1", milvus_database="default") == plain
    assert Settings().store_space == ""
    monkeypatch.setenv("WORKBENCH_MILVUS_DATABASE", "team_a")
    assert "WORKBENCH_MILVUS_URI" in refused().fact
    monkeypatch.setenv("WORKBENCH_MILVUS_URI", "http://one:1")
    monkeypatch.setenv("WORKBENCH_MILVUS_DATABASE", "team a")
    assert "WORKBENCH_MILVUS_DATABASE" in refused().fact


def test_every_further_address_is_known_without_its_login_and_no_server_learns_that_of_another() -> None:
    settings = Settings(
        milvus_uri="http://one:1",
        milvus_token=SecretStr("root:one"),
        milvus_addresses=("http://root:two@two:2", "http://three:3"),
    )
    assert settings.known_addresses == ("http://one:1", "http://two:2", "http://three:3")
    tokens = [settings.milvus_token_of(address) for address in (*settings.known_addresses, "http://four:4", "")]
    assert tokens == ["root:one", "root:two", "", "", ""]


@pytest.mark.parametrize(
    ("listed", "asked"),
    [
        ("localhost:19530", "http://localhost:19530"),
        ("http://localhost:19530", "localhost:19530"),
        ("localhost:19530", "LocalHost"),
        ("http://localhost:19530/", "http://localhost"),
        ("https://milvus.example", "milvus.example:443"),
        ("http://[::1]:19530", "[::1]"),
    ],
)
def test_a_server_is_known_in_every_spelling_of_its_address(listed: str, asked: str) -> None:
    settings = Settings(milvus_addresses=(listed,))
    assert settings.known_address(asked) == settings.known_addresses[0]
    assert Settings(milvus_uri=listed).known_address(asked) == settings.known_addresses[0]
    assert settings.known_addresses[0].startswith("http")


@pytest.mark.parametrize("asked", ["", " ", "localhost:19531", "localhost:x", "milvus:19530", "localhost:19530/other"])
def test_another_server_is_not_known(asked: str) -> None:
    assert Settings(milvus_addresses=("localhost:19530",)).known_address(asked) == ""


def test_of_two_servers_at_one_place_the_scheme_tells_which_is_meant() -> None:
    both = ("https://milvus:19530", "http://milvus:19530")
    settings = Settings(milvus_addresses=both)
    assert [settings.known_address(asked) for asked in (*both, "milvus")] == [*both, both[1]]
    assert settings.known_address("milvus:19530") == both[0]


def test_a_login_counts_in_an_address_without_a_scheme_too() -> None:
    settings = Settings(milvus_uri="root:one@one:1", milvus_addresses=("root:two@two:2",))
    assert settings.known_addresses == ("http://one:1", "http://two:2")
    assert [settings.milvus_token_of(address) for address in settings.known_addresses] == ["root:one", "root:two"]


@pytest.mark.parametrize(
    ("host", "listens", "reached"),
    [
        ("127.0.0.1", "http://127.0.0.1:8501", "http://127.0.0.1:8501"),
        ("::1", "http://[::1]:8501", "http://[::1]:8501"),
        ("[::1]", "http://[::1]:8501", "http://[::1]:8501"),
        ("::", "http://[::]:8501", "http://[::1]:8501"),
        ("0.0.0.0", "http://0.0.0.0:8501", "http://127.0.0.1:8501"),
        ("box.example", "http://box.example:8501", "http://box.example:8501"),
    ],
)
def test_addresses_of_either_kind_are_written_so_that_they_can_be_opened(host: str, listens: str, reached: str) -> None:
    settings = Settings(host=host)
    assert (settings.address, settings.reached_at()) == (listens, reached)
    assert settings.reached_at(9) == reached.replace("8501", "9")
    assert "::1" in settings.allowed_hosts
    assert Settings(allowed_hosts="box.example").allowed_hosts == ("box.example",)
