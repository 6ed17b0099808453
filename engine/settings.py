"""Settings of this machine (:class:`Settings`): paths, addresses and limits; for runs, the file of defaults."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar, get_args

from pydantic import (
    BaseModel,
    Field,
    PrivateAttr,
    SecretStr,
    ValidationError,
    ValidationInfo,
    create_model,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError
from pydantic_settings import (
    BaseSettings,
    DotEnvSettingsSource,
    EnvSettingsSource,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from engine.errors import InvalidConfig, InvalidQuestion, InvalidSettings
from engine.messages import N_
from engine.model.addresses import WebAddress, like, same_server, split_milvus_login, with_scheme, without_login
from engine.model.config import BUILTIN, CROSS_ENCODER, Defaults, RoleModel, RoleModels, RoleName, read_defaults
from engine.model.origins import plain_origin
from engine.plugins import plugins
from engine.version import DATA_FOLDER, HOME_FOLDER

_P = TypeVar("_P", bound=BaseModel)
_DATABASE = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,254}")
UPLOADS_TAKEN = 4
"""Times the largest file that can be used: up to this the pages take an upload, to report it as too large."""

_JUDGE = "judge"
_ROLES = (*get_args(RoleName), _JUDGE)
"""Roles that ``role_models`` may name."""
_PREFIX = "WORKBENCH_"
_OF_TESTS = "WORKBENCH_TEST_"
"""Variables that the test suite reads; they say nothing about the program."""


class Settings(BaseSettings):
    """Read from ``WORKBENCH_*`` variables, then ``.env``, then ``workbench.toml``; unknown names are refused.

    An instance has the settings of every plug-in too, which :meth:`of` gives.
    """

    model_config = SettingsConfigDict(
        env_prefix=_PREFIX,
        env_file=".env",
        # The later file wins.
        toml_file=[*([HOME_FOLDER / "workbench.toml"] if HOME_FOLDER else []), "workbench.toml"],
        extra="ignore",
        frozen=True,
        # An instance is always of the class with the settings of the plug-ins.
        defer_build=True,
    )

    _defaults: Defaults = PrivateAttr()

    data_dir: Path = Field(DATA_FOLDER, description=N_("Folder of everything that the program writes."))
    database_url: SecretStr = Field(
        SecretStr(""),
        description=N_(
            "Address of a PostgreSQL database (`postgresql://user:password@host/name`) for runs, query sets, "
            "judgements and jobs; empty: SQLite files in the data folder."
        ),
    )
    secret_key: SecretStr = Field(
        SecretStr(""),
        description=N_(
            "Key that encrypts tokens of connections in a PostgreSQL database: 32 random bytes in base64, the same for "
            "all replicas; several with commas: the first encrypts, all decrypt. Empty: one is made in the data folder."
        ),
    )
    milvus_uri: str = Field("", description=N_("Address of a Milvus server; empty: an embedded Milvus Lite store."))
    milvus_token: SecretStr = Field(SecretStr(""), description=N_("Token (`user:password`) of the Milvus server."))
    milvus_database: str = Field(
        "",
        description=N_(
            "Database of the Milvus server, one for each team that shares it, made where it is missing; empty: "
            "its own default."
        ),
    )
    milvus_addresses: Annotated[tuple[str, ...], NoDecode] = Field(
        (), description=N_("Further Milvus addresses that an API request may name.")
    )
    ollama_url: str = Field("http://127.0.0.1:11434", description=N_("Address of Ollama."))
    ollama_keep_alive: str = Field("10m", description=N_("How long Ollama keeps a model loaded after a call."))
    openai_url: Annotated[str, like("http://127.0.0.1:1234/v1")] = Field(
        "",
        description=N_(
            "Address of a server with OpenAI's protocol (LM Studio, vLLM, llama.cpp) for `openai:MODEL`; "
            "empty: OpenAI itself."
        ),
    )
    openai_api_key: SecretStr = Field(
        SecretStr(""), description=N_("Key for `openai:MODEL`; empty: `OPENAI_API_KEY` for OpenAI itself, else none.")
    )
    model_file: str = Field(
        "",
        description=N_(
            "A GGUF file that llama.cpp runs here, for `local:FILE`; such files in the folder `models` of the data "
            "folder need no setting. Empty: none."
        ),
    )
    rerank_url: WebAddress = Field(
        "",
        description=N_(
            "Address of a server that speaks `/v1/rerank` (llama.cpp, Infinity, Text Embeddings Inference) for "
            "`rerank:MODEL` as grader or reranker; empty: none."
        ),
    )
    rerank_api_key: SecretStr = Field(SecretStr(""), description=N_("Key for `rerank:MODEL`; empty: none is sent."))
    rerank_scores: Literal["share", "logit"] = Field(
        "share",
        description=N_(
            "What the scores of that server are: `share`, between 0 and 1, or `logit`, without limits, as those of "
            "llama.cpp."
        ),
    )
    embedding_model: str = Field(
        "builtin",
        description=N_("Embedding model for new collections: `builtin`, `hashing`, `ollama:MODEL` or `local:FILE`."),
    )
    role_models: Annotated[tuple[str, ...], NoDecode] = Field(
        (),
        description=N_(
            "Models where a run names none, as `ROLE=MODEL` with commas between, such as "
            "`grader=ollama:qwen3:8b,generator=ollama:qwen3:8b`; the roles are those of `models` in a run's settings, "
            "and `judge`, a chat model that is suggested for judging answers. Empty: built in."
        ),
    )
    defaults: str = Field(
        "",
        description=N_(
            "File of settings, JSON or TOML as the page Tune saves them, with the defaults of runs on this machine; "
            "empty: the program's own."
        ),
    )
    searxng_url: WebAddress = Field(
        "", description=N_("Address of a SearXNG that the dual loop may search the web with; empty: no web search.")
    )
    call_timeout_s: float = Field(
        60.0,
        gt=0,
        le=3600,
        description=N_(
            "Longest wait for one model call, in seconds; not set: at least this, and three times the longest "
            "call of a model that has shown to be slower."
        ),
    )
    generation_allowance_s: float = Field(
        30.0,
        ge=0,
        le=3600,
        description=N_("Time that one generation may take after the deadline of a run, in seconds."),
    )
    grader_concurrency: int = Field(
        4,
        ge=1,
        le=64,
        description=N_(
            "Passages graded at the same time by a chat model; not set: at most this, as far as a local server is "
            "quicker with it."
        ),
    )
    embedding_threads: int = Field(
        0,
        ge=0,
        le=64,
        description=N_(
            "Texts that the built-in embedder takes at once; 0: one a core, behind all other work, on Linux, elsewhere "
            "one core is left free."
        ),
    )
    drain_s: float = Field(
        0.0,
        ge=0,
        le=3600,
        description=N_(
            "Longest that a replica waits for its runs when it is asked to end (SIGTERM), in seconds; 0: they are "
            "cancelled."
        ),
    )
    max_concurrent_runs: int = Field(8, ge=1, le=256, description=N_("Runs that may be in progress at the same time."))
    max_question_chars: int = Field(2000, ge=1, le=100_000, description=N_("Longest question, in characters."))
    max_upload_mb: int = Field(20, ge=1, le=1024, description=N_("Largest file to ingest, in megabytes."))
    host: str = Field("127.0.0.1", description=N_("Address the app listens on."))
    port: int = Field(8501, ge=1, le=65535, description=N_("Port the app listens on."))
    allowed_hosts: Annotated[tuple[str, ...], NoDecode] = Field(
        ("127.0.0.1", "localhost"),
        validate_default=True,
        description=N_("Host names under which pages, API and event streams may be reached."),
    )
    allowed_origins: Annotated[tuple[str, ...], NoDecode] = Field(
        (),
        description=N_(
            "Further origins (`https://rag.example`) that pages, API and event streams take requests from, "
            "such as that of a proxy in front; their own is always taken."
        ),
    )

    def __new__(cls, *_args: Any, **_given: Any) -> Self:
        whole: type[Any] = _whole() if cls is Settings else cls
        made: Self = super().__new__(whole)
        return made

    @model_validator(mode="before")
    @classmethod
    def _split_login(cls, values: Any) -> Any:
        """User and password in an address become settings apart: addresses are shown, in messages and in records."""
        return split_milvus_login(values) if isinstance(values, dict) else values

    def model_post_init(self, _context: Any, /) -> None:
        """Read the file of defaults; raises ``InvalidSettings`` for what a run could not use."""
        named = {role: RoleModel(name) for role, name in self._named_models().items() if role != _JUDGE}
        self._defaults = Defaults(RoleModels(**named))
        if not self.defaults:
            return
        try:
            self._defaults = read_defaults(Path(self.defaults), named)
        except InvalidConfig as error:
            why = f"{self.defaults}: {error.fact} {error.remedy}".rstrip(".")
            raise InvalidSettings.unusable(name=f"{_PREFIX}DEFAULTS", why=why) from None
        address = self._defaults.of().milvus_address
        if address and not self.known_address(address):
            raise InvalidSettings.unusable(
                name=f"{_PREFIX}DEFAULTS", why=InvalidConfig.address_not_listed(field="milvus_address").fact
            )

    @field_validator("milvus_database")
    @classmethod
    def _of_a_server(cls, value: str, info: ValidationInfo) -> str:
        name = value.strip()
        if name and not _DATABASE.fullmatch(name):
            raise PydanticCustomError(
                "database_name", "it must be letters, digits and underscores, beginning with a letter"
            )
        if name and not info.data.get("milvus_uri"):
            raise PydanticCustomError("database_of_server", "only a server has databases: set WORKBENCH_MILVUS_URI too")
        # The server's own, under which earlier versions kept everything.
        return "" if name == "default" else name

    @field_validator("milvus_addresses", "role_models", "allowed_hosts", "allowed_origins", mode="before")
    @classmethod
    def _split(cls, value: Any) -> Any:
        return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value

    @field_validator("host")
    @classmethod
    def _without_brackets(cls, value: str) -> str:
        return value[1:-1] if value.startswith("[") and value.endswith("]") else value

    @field_validator("allowed_hosts")
    @classmethod
    def _loopback_of_both_kinds(cls, values: tuple[str, ...]) -> tuple[str, ...]:
        """Add ``::1`` if 127.0.0.1 is listed: both are this machine."""
        return (*values, "::1") if "127.0.0.1" in values and not {"::1", "[::1]"} & {*values} else values

    @field_validator("allowed_origins")
    @classmethod
    def _plain_origins(cls, values: tuple[str, ...]) -> tuple[str, ...]:
        plain = tuple(plain_origin(value) for value in values)
        if not all(plain):
            raise PydanticCustomError(
                "origin", "every one must be scheme, host and port, such as `https://rag.example`"
            )
        return plain

    @field_validator("secret_key")
    @classmethod
    def _keys(cls, value: SecretStr) -> SecretStr:
        try:
            _keys_in(value)
        except ValueError:
            raise PydanticCustomError(
                "secret_key", "it must be 32 bytes in base64, such as `openssl rand -base64 32` prints"
            ) from None
        return value

    @field_validator("embedding_model")
    @classmethod
    def _known_model(cls, value: str) -> str:
        provider, _, name = value.partition(":")
        if value not in ("builtin", "hashing") and (provider not in ("ollama", "local") or not name.strip()):
            raise PydanticCustomError(
                "embedding_model", "it must be `builtin`, `hashing`, `ollama:MODEL` or `local:FILE`"
            )
        return value

    @field_validator("role_models")
    @classmethod
    def _models_of_roles(cls, values: tuple[str, ...]) -> tuple[str, ...]:
        for value in values:
            role, _, name = (part.strip() for part in value.partition("="))
            if role not in _ROLES or not name:
                raise PydanticCustomError(
                    "role_model",
                    "{value}: it must be ROLE=MODEL, with one of the roles {roles}",
                    {"value": value, "roles": ", ".join(_ROLES)},
                )
            if role == _JUDGE and (name == BUILTIN or name.startswith(CROSS_ENCODER)):
                raise PydanticCustomError("judge_model", "judge: it must be a chat model, e.g. `ollama:MODEL`")
            try:
                RoleModels(**{"grader" if role == _JUDGE else role: RoleModel(name)})
            except InvalidConfig as error:
                why = f"{role}: {error.fact} {error.remedy}".rstrip(".")
                raise PydanticCustomError("role_model", "{why}", {"why": why}) from None
        return values

    @classmethod
    def load(cls, **overrides: Any) -> Settings:
        """The settings of this machine.

        Raises ``InvalidSettings`` naming the variable or key that cannot be used or is not known.
        """
        _refuse_unknown(overrides, "")
        try:
            _refuse_unknown(_ours(EnvSettingsSource(cls).env_vars), _PREFIX)
            # Other programs may keep their keys in the same .env file, so only our prefix counts there.
            _refuse_unknown(_ours(DotEnvSettingsSource(cls).env_vars), _PREFIX)
            _refuse_unknown(TomlConfigSettingsSource(cls).toml_data, "")
            return cls(**overrides)
        except ValidationError as error:
            first = error.errors(include_input=False, include_url=False)[0]
            name = _PREFIX + ".".join(str(part) for part in first["loc"]).upper()
            raise InvalidSettings.unusable(name=name, why=first["msg"]) from None
        except (OSError, ValueError) as error:
            # The parsers of the two files raise kinds of ValueError.
            raise InvalidSettings.unreadable(why=error) from None

    def of(self, kind: type[_P]) -> _P:
        """The settings of a plug-in, by the class that it declares them in."""
        assert isinstance(self, kind)
        return self

    def checked_question(self, text: str) -> str:
        """A question without blanks around it; raises ``InvalidQuestion`` where none is left, and for one too long."""
        # Half a surrogate pair, which a command line can bring, has no UTF-8 form: no store and no model takes it.
        question = text.encode(errors="replace").decode().strip()
        if not question:
            raise InvalidQuestion.blank()
        if len(question) > self.max_question_chars:
            raise InvalidQuestion.too_long(length=len(question), limit=self.max_question_chars)
        return question

    def _named_models(self) -> dict[str, str]:
        parted = (value.partition("=") for value in self.role_models)
        return {role.strip(): name.strip() for role, _, name in parted}

    @property
    def judge_model(self) -> str:
        """The judge that is suggested for answers; empty where there is none."""
        return self._named_models().get(_JUDGE, "")

    @property
    def models(self) -> RoleModels:
        """The model of each role where a run names none."""
        return self._defaults.models

    @property
    def defaults_of_runs(self) -> Defaults:
        """Default settings of a run (BE-07)."""
        return self._defaults

    @property
    def store_path(self) -> Path:
        """Folder of the embedded store; Milvus Lite insists on the suffix ``.db``."""
        return self.data_dir / "knowledge.db"

    @property
    def store_uri(self) -> str:
        return self.milvus_uri or str(self.store_path)

    @property
    def store_space(self) -> str:
        """Identity of this store, as others may have collections of the same name; empty for the embedded one.

        A database of a server is a space of its own.
        """
        return f"{self.milvus_uri}/{self.milvus_database}" if self.milvus_database else self.milvus_uri

    @property
    def address(self) -> str:
        """Address of the app."""
        return f"http://{_in_address(self.host)}:{self.port}"

    def reached_at(self, port: int | None = None) -> str:
        """The address of the app on this machine, also where it listens on every one."""
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)  # noqa: S104 - only compared with
        return f"http://{_in_address(host)}:{port or self.port}"

    @property
    def known_addresses(self) -> tuple[str, ...]:
        """Every Milvus address that a request may name (SC-11), with scheme, without user and password."""
        further = (without_login(with_scheme(given))[0] for given in self.milvus_addresses)
        return tuple(address for address in (self.milvus_uri, *further) if address)

    def known_address(self, address: str) -> str:
        """Return the ``known_addresses`` entry for the same server, of the same scheme if possible; else empty."""
        found = [known for known in self.known_addresses if same_server(known, address)]
        scheme = address.strip().lower().partition("://")[0]
        return next((known for known in found if known.startswith(f"{scheme}://")), found[0] if found else "")

    @property
    def secret_keys(self) -> tuple[str, ...]:
        """The keys that were set, the present one first."""
        return _keys_in(self.secret_key)

    def milvus_token_of(self, address: str) -> str:
        """The token of one of the ``known_addresses``; no other server may learn it, so empty for any other."""
        if address == self.milvus_uri:
            return self.milvus_token.get_secret_value() if address else ""
        logins = (without_login(with_scheme(given)) for given in self.milvus_addresses)
        return next((login for known, login in logins if known == address), "")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return init_settings, env_settings, dotenv_settings, TomlConfigSettingsSource(settings_cls)


@cache
def _whole() -> type[Settings]:
    """The settings of the core and of every plug-in."""
    own: list[Any] = [plugin.settings for plugin in plugins() if plugin.settings is not None]
    return create_model("Settings", __base__=(Settings, *own), __module__=__name__)


def usable_key(text: str) -> str:
    """A key as Fernet takes it, of 32 bytes in either form of base64; raises ``ValueError``."""
    key = text.strip().translate(str.maketrans("+/", "-_"))
    if len(base64.b64decode(key, altchars=b"-_", validate=True)) != 32:
        raise ValueError("a key has 32 bytes")
    return key


def _keys_in(value: SecretStr) -> tuple[str, ...]:
    return tuple(usable_key(part) for part in value.get_secret_value().split(",") if part.strip())


def _ours(names: Iterable[str]) -> list[str]:
    """The variables of a list that are meant for this program, in capitals."""
    capitals = (name.upper() for name in names)
    return [name for name in capitals if name.startswith(_PREFIX) and not name.startswith(_OF_TESTS)]


def _refuse_unknown(names: Iterable[str], prefix: str) -> None:
    """Raise ``InvalidSettings`` for the first name that no setting has; with a prefix, names are in capitals."""
    known = [prefix + (name.upper() if prefix else name) for name in _whole().model_fields]
    for name in names:
        if name in known:
            continue
        if (role := name.removeprefix(prefix).lower().removesuffix("_model")) in _ROLES:
            line = f"{prefix}ROLE_MODELS={role}=MODEL" if prefix else f'role_models = "{role}=MODEL"'
            raise InvalidSettings.replaced(name=name, line=line)
        near = get_close_matches(name, known, n=1, cutoff=0.0)[0]
        raise InvalidSettings.unknown(name=name, nearest=near)


def _in_address(host: str) -> str:
    return f"[{host}]" if ":" in host else host
