"""A run with hostile text in every place that others write."""

from __future__ import annotations

from dataclasses import replace

from engine.model.values import Fault, RunRecord, Verdict
from tests.components.sample_run import sample_record

HOSTILE = (
    "</style></title></script><script>document.title='owned'</script>",
    '"><img src=x onerror="document.title=1">',
    '\'><svg onload=alert(1)><a href="javascript:alert(1)">x</a>',
    "</pre></td></section><iframe srcdoc='<b>'></iframe><!-- ",
    "]]> &lt;b&gt; &#x3c;img&#x3e; &amp;",
    "[9](javascript:alert(1)) ![pixel](http://127.0.0.1:9/leak.png) **bold [1]**",
    "zero\x00 bell\x07 escape\x1b[31m \ud800 \uffff \u202egnp.exe\u202c \u2066x\u2069",
    'style="background:url(http://127.0.0.1:9/x)" {0} %s ${x}',
)


def laced(text: str) -> RunRecord:
    """The sample run with ``text`` in every place that others write."""
    run = sample_record()
    rounds = tuple(
        replace(
            item,
            query=f"q {text}",
            anchors=text,
            candidates=tuple(
                replace(
                    candidate,
                    passage=replace(candidate.passage, source=f"{text}.md", section=text, text=f"{text} {text}"),
                )
                for candidate in item.candidates
            ),
            verdicts={
                name: Verdict(True, 0.9, text, covered=(text,), missing=(text,), grader=f"ollama:{text}")
                for name in item.verdicts
            },
        )
        for item in run.rounds
    )
    calls = tuple(
        replace(
            item, model=text, reply=text, thinking=text, error=text, parsed={"x": text},
            messages=tuple(replace(message, content=text) for message in item.messages),
        )
        for item in run.model_calls
    )  # fmt: skip
    fault = Fault("WB999", text, text, {"a": text}, node=text)
    return replace(
        run,
        question=text,
        rounds=rounds,
        rewrites=tuple(
            replace(item, query=text, rewritten_query=f"{text} b", reason=text, strategy="", refused=(text,))
            for item in run.rewrites
        ),
        nodes=tuple(replace(item, error=text) for item in run.nodes),
        model_calls=calls,
        answer=f"# {text}\n\n- {text} [1]\n\n{text} **{text}** [2]",
        citations=tuple(replace(item, source=text, section=text) for item in run.citations),
        manifest={text: text, "workbench": text},
        error=fault,
        warnings=(fault,),
        config=replace(run.config, collection=(text or "x")[:60]),
    )
