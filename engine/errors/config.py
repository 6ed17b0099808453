"""Settings, questions, and what the settings of a run keep it from reaching."""

from __future__ import annotations

from engine.errors.base import Message, WorkbenchError
from engine.messages import N_


class InvalidConfig(WorkbenchError):
    """A setting is out of range, or another part of a request cannot be used; ``field`` names it."""

    code = "WB100"
    status = 422
    out_of_range = Message(
        N_("{field} must lie between {low} and {high}."), N_("Set {field} to a value in that range.")
    )
    not_a_number = Message(
        N_("{field} must be a number between {low} and {high}."),
        N_("Set {field} to a value in that range."),
    )
    not_one_of = Message(N_("{field} must be one of: {allowed}."), N_("Set {field} to one of these values."))
    none_saved = Message(
        N_("No settings are saved under the name {name!r}."),
        N_("Save them on the page Tune, or name a file with --config."),
    )
    not_whole = Message(
        N_("{field} must be a whole number."),
        N_("Set {field} to a whole number from {low} to {high}."),
    )
    not_an_object = Message(N_("{field} must be an object."), N_("Send {field} as a JSON object."))
    unknown_setting = Message(N_("There is no setting named {field!r}."), N_("Known settings: {known}."))
    weights = Message(
        N_("The four quality weights sum to {sum}."),
        N_("Set {weights} so that they sum to 1."),
        field="coverage_weight",
    )
    options_of_another_workflow = Message(
        N_("These options are not those of the workflow {workflow!r}."),
        N_("Leave options out, or send those of the workflow."),
        field="options",
    )
    collection_name = Message(
        N_("collection must have 1 to 60 characters."),
        N_("Name an existing collection."),
        field="collection",
    )
    address_too_long = Message(
        N_("milvus_address must have at most {most} characters."),
        N_("Leave milvus_address empty, or name an address of WORKBENCH_MILVUS_ADDRESSES."),
        field="milvus_address",
    )
    only_scores = Message(
        N_("{only_scores} only gives scores; it cannot be the {role}."),
        N_(
            "Choose it as grader, screener, reranker or verifier, and `builtin`, `ollama:MODEL` or `provider:model` "
            "here."
        ),
        field="models",
    )
    screener_chats = Message(
        N_("{model} is a chat model; a screener decides what a chat model is not asked."),
        N_("Choose `builtin`, `cross_encoder:NAME` or `rerank:MODEL` as screener."),
        field="models",
    )
    cuts_crossed = Message(
        N_("cascade_low is {low}, above cascade_high, which is {high}."),
        N_("Set cascade_low to at most cascade_high."),
        field="cascade_low",
    )
    only_graders_fit = Message(
        N_("Only a grader can be fitted to a collection; the {role} is {model}."),
        N_("Name the model of the {role} without `#`."),
        field="models",
    )
    unknown_fit = Message(
        N_("No fit of a grader with the id {fit} is kept here."),
        N_("Choose the grader without `#{fit}`, or fit it on the grader bench of Tune."),
        field="models",
    )
    fit_of_another = Message(
        N_("The fit {fit} is of the grader {model} to the collection {collection!r}."),
        N_("Choose that grader and collection together, or the grader without `#{fit}`."),
        field="models",
    )
    model_not_text = Message(
        N_("The name of a model must be a text."),
        N_("Write `builtin`, `ollama:MODEL` or `provider:model`."),
        field="models",
    )
    model_without_provider = Message(
        N_("The model {model!r} has no provider."),
        N_("Write `builtin`, `ollama:MODEL` or `provider:model`."),
        field="models",
    )
    no_judge = Message(
        N_("{model!r} cannot judge answers: only a chat model reads them."),
        N_("Name one, e.g. `ollama:MODEL`."),
        field="models",
    )
    no_question_writer = Message(
        N_("{model!r} cannot draft questions: only a chat model writes them."),
        N_("Name one, e.g. `ollama:MODEL`, or import a file of questions."),
        field="model",
    )
    provider_without_model = Message(
        N_("The model {model!r} names a provider and no model."),
        N_("Write `builtin`, `ollama:MODEL` or `provider:model`."),
        field="models",
    )
    prefix = Message(
        N_("{field} must be a text of at most {most} characters."),
        N_("Shorten {field}, or leave it out to take the one known for the model."),
    )
    other_in_collection = Message(
        N_("Collection {collection!r} has {has!r} as its {field}."),
        N_("Leave {field} out, or ingest into a new collection with an embedding model of Ollama."),
    )
    other_context = Message(
        N_("Collection {collection!r} has {has!r} as its form of context."),
        N_("Leave context out, put them into a new collection, or re-embed this one."),
        field="context",
    )
    no_context_writer = Message(
        N_("{model!r} cannot write sentences of context: only a chat model writes them."),
        N_("Name a chat model, e.g. `ollama:MODEL`, or set one as the extractor with WORKBENCH_ROLE_MODELS."),
        field="context_model",
    )
    too_long = Message(N_("{field} is too long: it may have {most} characters."), N_("Shorten {field}."))
    judge_name = Message(
        N_("A judge needs a name of 1 to {longest} visible characters."),
        N_("Give the name under which you judge."),
        field="judge",
    )
    description = Message(
        N_("The description must be a text of at most {most} characters."),
        N_("Shorten the description."),
        field="description",
    )
    not_base64 = Message(
        N_("content_base64 is not base64."), N_("Encode the file's bytes as base64."), field="content_base64"
    )
    file_unreadable = Message(
        N_("The config {path!r} cannot be read: {why}."),
        N_("Name a JSON or TOML file with fields of a run's config."),
        field="config",
    )
    file_without_object = Message(
        N_("The config {path!r} is no object."),
        N_('Write it as {{"top_k": 5, ...}}.'),
        field="config",
    )
    bar_without_number = Message(
        N_("The bar {bar!r} names no number."),
        N_("Write it as MEASURE=NUMBER, e.g. recall@5=0.95."),
        field="bar",
    )
    result_unwritable = Message(
        N_("The result cannot be written to {path!r}: {why}."),
        N_("Name a file in a folder that exists and can be written."),
        field="json",
    )

    address_not_listed = Message(
        N_("This Milvus address is not one that the settings list."),
        N_("Leave {field} out, or add the address to WORKBENCH_MILVUS_ADDRESSES."),
        code="WB704",
        status=403,
    )

    @property
    def field(self) -> str:
        """The setting or the field of a request that is at fault."""
        return self.params["field"]


class InvalidQuestion(WorkbenchError):
    """The question is blank or too long."""

    code = "WB101"
    status = 422
    blank = Message(N_("The question is empty."), N_("Type a question and run it again."))
    too_long = Message(
        N_("The question has {length} characters; the limit is {limit}."),
        N_("Shorten the question, or raise WORKBENCH_MAX_QUESTION_CHARS."),
    )


class InvalidSettings(WorkbenchError):
    """A ``WORKBENCH_*`` variable or ``workbench.toml`` cannot be used."""

    code = "WB102"
    unusable = Message(N_("{name} cannot be used: {why}."), N_("Correct or remove {name}."))
    unknown = Message(
        N_("There is no setting named {name}."),
        N_("Correct or remove {name}, or install the plug-in that reads it; the nearest known name is {nearest}."),
    )
    replaced = Message(
        N_("{name} is no longer read: one setting names the models of all roles."),
        N_("Remove {name}, and write `{line}`, further roles after a comma."),
    )
    without_plugin = Message(
        N_("{name} is set, but the plug-in {plugin}, which opens that database, is missing or could not be loaded."),
        N_("Add the plug-in again, or leave {name} empty to use files in the data folder."),
    )
    secrets_unreadable = Message(
        N_("Streamlit does not read its file of secrets {path!r}."),
        N_("Make it valid TOML, remove it, or start by `{program} serve` if a variable names it."),
        name="secrets.toml",
    )
    sign_in_missing = Message(
        N_("The secrets have a section `[auth]`, and the plug-in `team`, which signs people in, is not here."),
        N_("Add the plug-in again; without the section everybody who reaches the workbench may do everything."),
        name="secrets.toml",
    )
    unreadable = Message(
        N_(".env or workbench.toml cannot be read: {why}."),
        N_("Correct that file, or remove it."),
        name=".env / workbench.toml",
    )
