"""What a reader sees of real Markdown: words without markup, code as code, and the lines where they stand."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.knowledge.chunk import chunk
from engine.knowledge.load import load_bytes
from engine.library.values import ChunkOptions


def read(text: str) -> str:
    return "\n\n".join(section.text for section in load_bytes("a.md", text.encode()).sections)


@pytest.mark.parametrize(
    ("written", "seen"),
    [
        ('信息请看 <a href="https://x.org/CORS" class="external" target="_blank">文档</a>。', "信息请看 文档。"),
        ('<abbr title="Cross-Origin Resource Sharing">CORS</abbr> is a rule.', "CORS is a rule."),
        ("Read [the guide](https://x.org/a_(b) \"t\") and [it][r].\n\n[r]: https://x.org", "Read the guide and it."),
        ("![A red lamp](lamp.png) burns.", "A red lamp burns."),
        ('See <img src="lamp.png" alt="the lamp"/> here.', "See the lamp here."),
        ("Set <größe> and <b>run</b> <File>.", "Set <größe> and run ."),
        ('See <img src="lamp.png" alt="Ann\'s lamp"/> here.', "See Ann's lamp here."),
        ("**FastAPI** is *quick*, ~~slow~~ and __new__.", "FastAPI is quick, ~~slow~~ and new."),
        ("Dose: <del>10 mg</del> 5 mg.", "Dose: ~~10 mg~~ 5 mg."),
        ("About 4×10<sup>9</sup>/L and H<sub>2</sub>O.", "About 4×10^9/L and H_2O."),
        ("Give 2*3*4 tablets.", "Give 2*3*4 tablets."),
        ("[剂量]: 每日5毫克", "[剂量]: 每日5毫克"),
        ("export default of settings matters.", "export default of settings matters."),
        ("export default function Page() {}\n\nText.", "Text."),
        ("这是**「重点」**内容。", "这是「重点」内容。"),
        ("Use `a <b> [c](d)` as it is.", "Use `a <b> [c](d)` as it is."),
        ("Put <your-name> there.", "Put <your-name> there."),
        ("First.<br>Second &amp; third &lt;x&gt;.", "First. Second & third <x>."),
        ("before <!-- hidden\nremark --> after", "before\nafter"),
        ("A fact.[^1]\n\n[^1]: Its source.", "A fact.[Footnote 1]\n\n[Footnote 1] Its source."),
        ("See [[Page One|the page]] and [[Other]].", "See the page and Other."),
        ("See the docs{target=\"_blank\"} or [x](y){.button #z}.", "See the docs or x."),
        ("> quoted words\n> and more", "quoted words\nand more"),
        ("Escaped \\* star.", "Escaped * star."),
    ],
)  # fmt: skip
def test_a_line_reads_as_a_browser_shows_it(written: str, seen: str) -> None:
    assert read(written) == seen


@pytest.mark.parametrize(
    "written",
    [
        '/// note | "技术细节"\n\nThe words.\n\n///',
        "/// tip\nThe words.\n///",
        ":::tip\nThe words.\n:::",
        "::: info 注意\nThe words.\n:::",
        '!!! note\n    The words.\n',
        '??? warning "Warning"\n\n    The words.\n',
        "> [!NOTE]\n> The words.",
        "[[toc]]\n\nThe words.",
        "import Tabs from '@theme/Tabs';\n\n<Tabs groupId=\"os\">\n\nThe words.\n\n</Tabs>",
        '<Tabs\n  groupId="os"\n  values={[\n    {label: "A"},\n  ]}>\n<TabItem>\n\nThe words.\n\n</TabItem>\n</Tabs>',
        '<script setup>\nimport X from "./x.vue"\n\nconst a = 1\n</script>\n\nThe words.\n\n<X :a="b > c"/>',
        "<style>\np { color: red }\n</style>\nThe words.",
        '<div class="termy" data-x="a>b">\n\nThe words.\n\n</div>',
        "<!-- a\n\nremark -->\n\nThe words.",
        "---\nlayout: page\noutline: deep\n---\n\nThe words.",
        "***\n\nThe words.",
        "{{< youtube abc >}}\n\nThe words.",
    ],
)  # fmt: skip
def test_marks_of_documentation_tools_leave_only_the_words(written: str) -> None:
    assert read(written) == "The words."


def test_the_title_of_a_box_that_says_something_is_kept() -> None:
    assert read(":::tip API preference\nThe words.\n:::") == "API preference\n\nThe words."
    assert read('!!! note "Old servers"\n    The words.\n\nAfter.') == "Old servers\n\nThe words.\n\nAfter."


def test_code_stays_as_it_was_written_between_plain_fences() -> None:
    code = 'from x import y\n\nif a < b and "<b>" in c[1]:\n    print("[link](x) {# no #}")  # /// note'
    for info in ('hl_lines="4 6"', 'Python title="main.py" hl_lines="1"', "js{1,3-4}", "ts [file.ts]"):
        language = "" if "=" in info.split()[0] else info.split()[0].split("{")[0]
        assert read(f"```{info}\n{code}\n```\n\nafter") == f"```{language}\n{code}\n```\n\nafter"


def test_code_inside_a_list_or_a_box_loses_its_indent() -> None:
    assert read("- step\n\n    ```sh\n    run it\n    ```") == "- step\n\n```sh\nrun it\n```"
    assert read("!!! note\n    ```sh\n    run it\n    ```") == "```sh\nrun it\n```"


def test_a_terminal_coloured_for_the_web_reads_as_a_terminal() -> None:
    shown = '```console\n$ <font color="#4E9A06">fastapi</font> dev <u style="x">main.py</u> &apos;a&apos;\n```'
    assert read(shown) == "```console\n$ fastapi dev main.py 'a'\n```"


def test_preformatted_html_is_code_and_interpolated_text_is_text() -> None:
    inside = '<span style="x">✔</span> Name: … &lt;your-name&gt;\nDone.'
    shown = f'<div class="language-sh"><pre><code>{inside}</code></pre></div>'
    assert read(shown) == "```\n✔ Name: … <your-name>\nDone.\n```"
    assert read("```sh-vue\n$ cd {{'<your-name>'}}\n```") == "```sh-vue\n$ cd <your-name>\n```"


def test_alternatives_of_which_a_page_shows_one_do_not_run_into_one_word() -> None:
    written = 'Use <span class="a">`onMounted`</span><span class="b">`mounted`</span>, or <b>this</b>one.'
    assert read(written) == "Use `onMounted` `mounted`, or thisone."


def test_tables_keep_their_rows_and_lose_the_markup_in_their_cells() -> None:
    text = "| Name | Use |\n|---|---|\n| **a** | [b](c) |\n| `x` | plain |"
    assert read(text) == "| Name | Use |\n|---|---|\n| a | b |\n| `x` | plain |"


def test_headings_lose_their_attributes_and_signs() -> None:
    document = load_bytes(
        "a.md", b"# Title { #title }\n\n## Using `ref()` \\*\\* {#ref}\n\nwords\n\nOther\n---\n\nmore"
    )
    assert (document.title, [section.path for section in document.sections]) == (
        "Title",
        [("Using ref()",), ("Other",)],
    )  # fmt: skip


def test_a_plain_document_stays_as_it_is_to_the_last_space() -> None:
    table = "| a |b|\n|---|---|\n| 1 | 2 |"
    text = f"Words  with   spaces. \n\n\n1. one\n   more\n- two\n\n{table}\n\n    indented\n\n```py\nx\n```"
    assert read(text) == text


def test_passages_know_their_lines_in_the_file() -> None:
    text = "---\nlayout: page\n---\n# Title\n\n:::tip\nFirst words.\n:::\n\n## Next\n\n" + "\n\n".join(
        f"Sentence number {number} is here." for number in range(60)
    )
    source = text.split("\n")
    passages = chunk(
        load_bytes("a.md", text.encode()), ChunkOptions(target_tokens=80, most_tokens=120, overlap_tokens=0)
    )
    assert passages[0].meta["lines"] == "7"
    assert len(passages) > 3
    for passage in passages[1:]:
        first, last = map(int, passage.meta["lines"].split("-"))
        assert "\n".join(source[first - 1 : last]) == passage.text
    ends = [int(passage.meta["lines"].split("-")[-1]) for passage in passages]
    assert all(first < second for first, second in pairwise(ends))


_PIECES = """<div> </div> a ``` ::: >_ -_ [x](y) <!-- | !!!_n ____ {#a} <a_ --- # * _ \\n""".split()


@given(st.lists(st.sampled_from(_PIECES), max_size=40))
def test_any_markup_is_read_and_every_line_has_a_number(pieces: list[str]) -> None:
    text = "".join(pieces).replace("_", " ").replace("\\n", "\n") + "\n\nThe last words."
    for section in load_bytes("a.md", text.encode()).sections:
        assert len(section.lines) == section.text.count("\n") + 1
        assert max(section.lines) <= text.count("\n") + 1


@pytest.mark.parametrize(
    "written",
    [
        "{!../../docs/first.py!}",
        "{* ../../docs/first.py hl[3] *}",
        '--8<-- "docs/first.py"',
        "<<< @/docs/first.py{2,4}",
        "@[code](../docs/first.py)",
    ],
)
def test_included_code_is_named_by_its_file(written: str) -> None:
    assert read(f"Make it:\n\n{written}\n\nThe words.") == "Make it:\n\n`docs/first.py`\n\nThe words."


def test_front_matter_keeps_what_a_reader_reads_and_drops_what_steers_the_page() -> None:
    steers = "layout: page\nsidebar:\n  order: 7\nweight: 3\nslug: x\nfooter: false\nimage: /lamp.png\nnav_order: 2\n"
    kept = (
        "status: beta\nsince: 3.2\ntags:\n  - red\n  - oil\ndescription: >\n  All about\n  lamps\nfor: [all, 'of us']\n"
    )
    document = load_bytes("a.md", f"---\ntitle: Lamps\n{steers}{kept}---\n\nThe words.".encode())
    assert document.title == "Lamps"
    assert document.sections[0].text == (
        "status: beta\nsince: 3.2\ntags: red, oil\ndescription: All about lamps\nfor: all, of us\n\nThe words."
    )


@pytest.mark.parametrize(
    "comment",
    [
        '<pre><code class="cmd">\n{line}\n\n{line}\n</code></pre>',
        "<div>\n<div>\n{line}\n</div>\n</div>",
        "<div>\n  <div><span>{line}</span></div>\n</div>",
        "\\{line}",
        "    {line}",
        "> <div>\n> {line}\n> </div>",
    ],
    ids=["pre", "div", "span in div", "escaped", "indented code", "quoted"],
)
def test_comments_of_code_and_text_of_html_are_no_headings(comment: str) -> None:
    written = "# Title\n\n## One\n\n" + comment.replace("{line}", "# a comment") + "\n\n## Two\n\nwords\n"
    found = load_bytes("a.md", written.encode())
    assert [item.path for item in found.sections] == [("One",), ("Two",)]
    assert "# a comment" in found.sections[0].text
