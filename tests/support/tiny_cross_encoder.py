"""A cross encoder small enough to make in a test: real ONNX and a real tokenizer; it counts the words of a question."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import onnx
from onnx import TensorProto, helper
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
_WEIGHT, _BIAS = 1.5, -4.0
_WORDS = re.compile(r"[\u4e00-\u9fff]|[^\W\u4e00-\u9fff]+")
"""Words, and every Chinese character; marks are no words."""


def write_cross_encoder(
    folder: Path, texts: Iterable[str], model_file: str = "onnx/model.onnx", labels: Sequence[str] = ()
) -> None:
    """A model folder as a model hub has them; only the words of ``texts`` are known to it.

    With ``labels`` it is a model of entailment: ``entailment``, or the first of them, is what it says of a text with
    all words of a sentence.
    """
    (folder / model_file).parent.mkdir(parents=True, exist_ok=True)
    onnx.save(_model(labels), str(folder / model_file))
    tokenizer = _tokenizer(texts)
    tokenizer.save(str(folder / "tokenizer.json"))
    about = {"model_max_length": 256, "pad_token": "[PAD]"}
    (folder / "tokenizer_config.json").write_text(json.dumps(about), encoding="utf-8")
    (folder / "config.json").write_text(
        json.dumps({"pad_token_id": 0, "id2label": dict(enumerate(labels))}), encoding="utf-8"
    )


def _tokenizer(texts: Iterable[str]) -> Tokenizer:
    words = sorted({word for text in texts for word in _WORDS.findall(text.lower())})
    vocabulary = {word: place for place, word in enumerate((*SPECIAL, *words))}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    han = pre_tokenizers.Split(Regex("[\u4e00-\u9fff]"), "isolated")
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([han, pre_tokenizers.Whitespace()])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])],
    )
    return tokenizer


def _model(labels: Sequence[str]) -> Any:
    """Logit = weight · (words of the second text that stand in the first) + bias; special tokens do not count.

    With labels, the logit of that one is bias · (words of the second text that are missing) − bias / 2, else 0.
    """
    nodes = [
        helper.make_node("Unsqueeze", ["input_ids", "last"], ["rows"]),
        helper.make_node("Unsqueeze", ["input_ids", "middle"], ["columns"]),
        helper.make_node("Equal", ["rows", "columns"], ["same"]),
        helper.make_node("Cast", ["same"], ["same_f"], to=TensorProto.FLOAT),
        helper.make_node("Greater", ["input_ids", "specials"], ["word"]),
        helper.make_node("Cast", ["word"], ["word_f"], to=TensorProto.FLOAT),
        helper.make_node("Cast", ["token_type_ids"], ["second"], to=TensorProto.FLOAT),
        helper.make_node("Sub", ["one", "second"], ["first"]),
        helper.make_node("Mul", ["first", "word_f"], ["asked"]),
        helper.make_node("Mul", ["second", "word_f"], ["said"]),
        helper.make_node("Unsqueeze", ["asked", "last"], ["asked_column"]),
        helper.make_node("MatMul", ["same_f", "asked_column"], ["met"]),
        helper.make_node("Squeeze", ["met", "last"], ["times"]),
        helper.make_node("Min", ["times", "one"], ["once"]),
        helper.make_node("Mul", ["once", "said"], ["counted"]),
        helper.make_node("ReduceSum", ["counted", "middle"], ["sum"], keepdims=1),
    ]
    if labels:
        place = labels.index("entailment") if "entailment" in labels else 0
        named = ["score" if at == place else "zero" for at in range(len(labels))]
        nodes += [
            helper.make_node("ReduceSum", ["said", "middle"], ["said_sum"], keepdims=1),
            helper.make_node("Sub", ["said_sum", "sum"], ["missing"]),
            helper.make_node("Sub", ["missing", "half"], ["less"]),
            helper.make_node("Mul", ["less", "bias"], ["score"]),
            helper.make_node("Mul", ["score", "nothing"], ["zero"]),
            helper.make_node("Concat", named, ["logits"], axis=1),
        ]
    else:
        nodes += [
            helper.make_node("Mul", ["sum", "weight"], ["weighed"]),
            helper.make_node("Add", ["weighed", "bias"], ["logits"]),
        ]
    shape = ["batch", "length"]
    graph = helper.make_graph(
        nodes,
        "overlap",
        [helper.make_tensor_value_info(name, TensorProto.INT64, shape) for name in ("input_ids", "token_type_ids")],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", len(labels) or 1])],
        initializer=[
            helper.make_tensor("last", TensorProto.INT64, [1], [2]),
            helper.make_tensor("middle", TensorProto.INT64, [1], [1]),
            helper.make_tensor("specials", TensorProto.INT64, [], [len(SPECIAL) - 1]),
            helper.make_tensor("one", TensorProto.FLOAT, [], [1.0]),
            helper.make_tensor("half", TensorProto.FLOAT, [], [0.5]),
            helper.make_tensor("nothing", TensorProto.FLOAT, [], [0.0]),
            helper.make_tensor("weight", TensorProto.FLOAT, [], [_WEIGHT]),
            helper.make_tensor("bias", TensorProto.FLOAT, [], [_BIAS]),
        ],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
