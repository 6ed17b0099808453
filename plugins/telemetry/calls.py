"""Calls of models as attributes: a chat model's as a call of a language model, anything else as what it was."""

from __future__ import annotations

from dataclasses import dataclass

from openinference.semconv.trace import (
    MessageAttributes,
    OpenInferenceSpanKindValues,
    RerankerAttributes,
    SpanAttributes,
)

from engine.model.config import CROSS_ENCODER, RERANK_SERVER, ROLES, RoleModel, RunConfig
from engine.model.values import ModelCall, RunRecord
from plugins.telemetry.fields import Fields
from plugins.telemetry.values import Value

_GEN_AI_NAMES = {
    "google_genai": "gcp.gemini",
    "google_vertexai": "gcp.vertex_ai",
    "mistralai": "mistral_ai",
    "xai": "x_ai",
}
"""Providers that OpenTelemetry calls otherwise than LangChain."""


@dataclass(frozen=True, slots=True)
class Called:
    """The name and the kind of the span of one call."""

    name: str
    kind: OpenInferenceSpanKindValues


def called(call: ModelCall) -> Called:
    """Only a chat model that was really asked is an ``LLM``: what is built in or came from the cache asked no model."""
    kinds = OpenInferenceSpanKindValues
    scoring = call.model.startswith((CROSS_ENCODER, RERANK_SERVER))
    if not (call.built_in or call.cached or scoring):
        return Called(f"chat {_provider_and_model(call.model)[1]}", kinds.LLM)
    if call.role == "reranker" and not call.built_in:
        return Called(f"{call.role} {call.model}", kinds.RERANKER)
    judging = call.role in ("grader", "evaluator", "judge", "reranker")
    return Called(f"{call.role} {call.model}", kinds.EVALUATOR if judging else kinds.CHAIN)


def describe_call(call: ModelCall, record: RunRecord, fields: Fields) -> None:
    """Set what is known of a call; messages and reply are content."""
    kind = called(call).kind
    fields.put(SpanAttributes.OPENINFERENCE_SPAN_KIND, kind.value)
    fields.put("workbench.role", call.role)
    fields.put("workbench.model", call.model)
    fields.put("workbench.built_in", call.built_in)
    fields.put("workbench.cached", call.cached)
    fields.put("workbench.attempt", call.attempt)
    fields.put("workbench.truncated", call.truncated)
    fields.put("workbench.readable", call.parsed is not None)
    if call.passage_id is not None:
        fields.put("workbench.passage", fields.wanted.passage(call.passage_id))
    if kind is OpenInferenceSpanKindValues.LLM:
        _describe_chat(call, record, fields)
        return
    if kind is OpenInferenceSpanKindValues.RERANKER:
        fields.put(RerankerAttributes.RERANKER_MODEL_NAME, call.model)
    fields.say_input("\n\n".join(message.content for message in call.messages))
    fields.say_output(call.reply)


def _describe_chat(call: ModelCall, record: RunRecord, fields: Fields) -> None:
    provider, model = _provider_and_model(call.model)
    fields.put(SpanAttributes.LLM_MODEL_NAME, model)
    fields.put(SpanAttributes.LLM_PROVIDER, provider)
    fields.put("gen_ai.operation.name", "chat")
    fields.put("gen_ai.provider.name", _GEN_AI_NAMES.get(provider, provider))
    fields.put("gen_ai.request.model", model)
    fields.put(SpanAttributes.LLM_PROMPT_TEMPLATE_VERSION, record.manifest.get(f"{call.prompt}_prompt"))
    _describe_parameters(call, record.config, fields)
    _describe_tokens(call, fields)
    for place, message in enumerate(call.messages):
        at = f"{SpanAttributes.LLM_INPUT_MESSAGES}.{place}"
        fields.put(f"{at}.{MessageAttributes.MESSAGE_ROLE}", message.role)
        fields.say(f"{at}.{MessageAttributes.MESSAGE_CONTENT}", message.content)
    if call.reply or not call.error:
        at = f"{SpanAttributes.LLM_OUTPUT_MESSAGES}.0"
        fields.put(f"{at}.{MessageAttributes.MESSAGE_ROLE}", "assistant")
        fields.say(f"{at}.{MessageAttributes.MESSAGE_CONTENT}", call.reply)
    if call.messages:
        fields.say_input(call.messages[-1].content)
    fields.say_output(call.reply)
    fields.say("workbench.thinking", call.thinking)


def _provider_and_model(name: str) -> tuple[str, str]:
    """``provider:model`` as two; calls that were taken in from another program may name the model alone."""
    provider, colon, model = name.partition(":")
    return (provider, model) if colon else ("", name)


def _describe_parameters(call: ModelCall, config: RunConfig, fields: Fields) -> None:
    """Set the numbers that a call was made with, where the settings of the run name its model."""
    asked = _asked_with(call, config)
    temperature = call.temperature if call.temperature is not None else asked.temperature if asked else None
    parameters: dict[str, Value | None] = {"temperature": temperature}
    if asked is not None:
        parameters |= {
            "seed": asked.seed,
            "num_ctx": asked.num_ctx if asked.model.startswith(("ollama:", "local:")) else None,
        }
        fields.put("gen_ai.request.seed", asked.seed)
    fields.put("gen_ai.request.temperature", temperature)
    fields.put_json(SpanAttributes.LLM_INVOCATION_PARAMETERS, parameters)


def _asked_with(call: ModelCall, config: RunConfig) -> RoleModel | None:
    models: list[RoleModel] = [getattr(config.models, role) for role in (call.role, *ROLES) if role in ROLES]
    return next((item for item in models if item.model == call.model), None)


def _describe_tokens(call: ModelCall, fields: Fields) -> None:
    fields.put(SpanAttributes.LLM_TOKEN_COUNT_PROMPT, call.prompt_tokens)
    fields.put(SpanAttributes.LLM_TOKEN_COUNT_COMPLETION, call.reply_tokens)
    fields.put("gen_ai.usage.input_tokens", call.prompt_tokens)
    fields.put("gen_ai.usage.output_tokens", call.reply_tokens)
    if call.prompt_tokens is not None and call.reply_tokens is not None:
        fields.put(SpanAttributes.LLM_TOKEN_COUNT_TOTAL, call.prompt_tokens + call.reply_tokens)
    if call.truncated:
        fields.put(SpanAttributes.LLM_FINISH_REASON, "length")
        fields.put("gen_ai.response.finish_reasons", ("length",))
