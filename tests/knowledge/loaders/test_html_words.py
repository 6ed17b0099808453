"""The words of HTML, in pages and between Markdown: nothing runs together, and what is left out is counted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.knowledge.loaders.markdown import load_markdown
from engine.knowledge.loaders.web_page import load_html

Read = dict[str, int]
Notes = dict[str, str]


def read(name: str, text: str, hidden: bool = False) -> tuple[str, Notes, Read]:
    """All text, the count of each note, and how much of each kind was read."""
    contents = (load_html if name.endswith("html") else load_markdown)(name, text.encode(), hidden)
    sections = ["\n".join((*section.path, section.text)) for section in contents.sections]
    return "\n\n".join(sections), {item.code: item.params["count"] for item in contents.notes}, dict(contents.read)


_ROWS = "<tr><th>Dose<th>Way</tr>"
_TEX = (
    "<semantics><mi>E</mi><annotation encoding='application/x-tex'>{\\displaystyle E=mc^{2}}</annotation></semantics>"
)
PAGES: list[tuple[str, str, Notes, Read]] = [
    (
        f"<table>{_ROWS}<tr><td><p>5</p><p>7</p><td>10 mg<br>20 mg</table>",
        "- Dose: 5 7; Way: 10 mg 20 mg",
        {},
        {"tables": 1},
    ),
    (
        f"<table>{_ROWS}<tr><td><ul><li>a<li>b</ul><td><dl><dt>k<dd>v</dl></table>",
        "- Dose: • a • b; Way: k v",
        {},
        {"tables": 1},
    ),
    (
        f"<table>{_ROWS}<tr hidden><td>1<td>2<tr><td>3<td>4</table>",
        "- Dose: 3; Way: 4",
        {"hidden_text": "1"},
        {"tables": 1},
    ),
    ("<pre>first()<br>second()</pre>", "```\nfirst()\nsecond()\n```", {}, {"blocks of code": 1}),
    ("<pre><div>a  b</div><div>c</div></pre>", "```\na  b\nc\n```", {}, {"blocks of code": 1}),
    (
        "<details><summary>Q</summary>A</details><p><button>One</button><button>二</button></p><select><option>x<option>y",
        "Q\n\nA\n\nOne 二\n\nx\n\ny",
        {},
        {"paragraphs": 5},
    ),
    (
        "<ul><li><input type=checkbox checked> done<li><input type=checkbox>open</ul>"
        "<ol start=5><li>five<li value=9>nine</ol>",
        "- [x] done\n- [ ] open\n\n5. five\n9. nine",
        {},
        {"list items": 4},
    ),
    (
        "<p>10<sup>9</sup> H<sub>2</sub>O x<sup><i>n</i>+1</sup> 5<sup>th</sup> "
        "m<span style='vertical-align: super'>2</span>",
        "10^9 H_2O x^(n+1) 5th m^2",
        {},
        {"paragraphs": 1},
    ),
    (
        "<p><s>5</s> 7 mg <span style='text-decoration: red line-through'>old</span> "
        "<s><del>twice</del></s></p><del><p>a<p>b</del>",
        "~~5~~ 7 mg ~~old~~ ~~twice~~\n\n~~a~~\n\n~~b~~",
        {},
        {"paragraphs": 3},
    ),
    (
        f"<table>{_ROWS}<tr><td style='text-decoration: line-through'>5<td>oral"
        "<tr style='vertical-align:top'><td>7<td>x</table>",
        "- Dose: ~~5~~; Way: oral\n- Dose: 7; Way: x",
        {},
        {"tables": 1},
    ),
    (
        "<p>So <script type='math/tex'>a^2</script><span class=katex><span><math><mi>b</mi></math></span>"
        "<span aria-hidden=true>b</span></span><!-- a remark --><!-- --> <svg><title>t</title><text>in</text></svg>",
        "So a^2 b\n\nin",
        {"comments": "1"},
        {"equations": 2, "paragraphs": 2},
    ),
    (
        "<h2>Struct <button>Copy path</button></h2><h2><button>What is it?</button></h2>"
        "<div><input type=checkbox></div><svg><text>North</text><text>5</text></svg>",
        "Struct\nStruct\n\nWhat is it?\nNorth 5",
        {"page_frame": "1"},
        {"paragraphs": 1},
    ),
    (
        f"<table>{_ROWS}<tr><td>x<td><table><tr><td>n1<td>n2<tr><td>m1<td>m2</table></table>",
        "- Dose: x; Way: - n1: n2 - m1: m2",
        {},
        {"tables": 2},
    ),
    ("<p><ruby>東京<rp>(</rp><rt>とうきょう</rt><rp>)</rp></ruby>で", "東京で", {}, {"paragraphs": 1}),
    (
        "<p><math><mfrac><mi>a</mi><mrow><mi>b</mi><mo>+</mo><mn>1</mn></mrow></mfrac></math>, "
        f"<math><msup><mi>x</mi><mn>2</mn></msup><msqrt><mi>y</mi></msqrt></math>, <math>{_TEX}</math>",
        "(a)/(b+1), x^2√(y), E=mc^{2}",
        {},
        {"equations": 3, "paragraphs": 1},
    ),
    (
        f"<p>So <span style='display:none'><math>{_TEX}</math></span><img aria-hidden=true alt='E'> holds",
        "So E=mc^{2} holds",
        {},
        {"equations": 1, "paragraphs": 1},
    ),
    (
        "<p hidden>a<p style='visibility: hidden'>b</p><noscript>c</noscript>"
        "<template>d</template><p aria-hidden=true>seen",
        "seen",
        {"hidden_text": "4"},
        {"paragraphs": 1},
    ),
    ("<body style='display:none'><p>words", "words", {}, {"paragraphs": 1}),
    (
        "<nav>n</nav><main><p>The long main text.</main><div>cookies</div><footer>f</footer><script>x</script>",
        "The long main text.",
        {"page_frame": "3"},
        {"paragraphs": 1},
    ),
    (
        "<p><img src=a.png><img src=b.png alt='A lamp'><img alt=''>x<iframe></iframe></p><div role=alert>Hot",
        "A lamp x\n\nHot",
        {"embedded_not_read": "1", "pictures_not_read": "1"},
        {"paragraphs": 2, "pictures": 1},
    ),
    (
        "<table><tr><td>label<td><ul><li>one</ul></tr></table><table>stray<tr><td>a<td>b</table>",
        "label\n\n- one\n\nstray\n\na\n\nb",
        {},
        {"paragraphs": 4, "list items": 1},
    ),
    (
        "<table><thead><tr><th rowspan=2>Plan<th colspan=2>Price<tr><th>EU<th>US<tbody><tr><th>Basic<td>5<td>7"
        "<tr><th colspan=100>Old<tr><td>Free<td colspan=2>0</table>",
        "- Plan: Basic; Price · EU: 5; Price · US: 7\nOld\n- Plan: Free; Price · EU: 0; Price · US: 0",
        {},
        {"tables": 1},
    ),
    (
        "<table><tr><td>a<td rowspan=0>all<td>1<tr><td>b<td>2</table>",
        "| a | all | 1 |\n| b | all | 2 |",
        {},
        {"tables": 1},
    ),
    (
        "<table><tr><th>Colour<td>red<td>blue<tr><th>Size<td>big<td>small</table>",
        "| Colour | red | blue |\n| Size | big | small |",
        {},
        {"tables": 1},
    ),
    (
        "<ol type=a start=3><li>x<li>y</ol><ol style='list-style: upper-roman'><li><p>p</p><li>q</ol>"
        "<ol type=i><li>z</ol>",
        "c. x\nd. y\n\nI. p\nII. q\n\ni. z",
        {},
        {"list items": 5},
    ),
    (  # as Google Docs saves a page
        "<style>.c1,p.c4{vertical-align:super}.c5{text-decoration:line-through}a.c6:hover{vertical-align:sub}</style>"
        "<p>10<span class='c2 c1'>9</span>/L <span class=c5>5</span> 7 mg <a class=c6>x",
        "10^9/L ~~5~~ 7 mg x",
        {},
        {"paragraphs": 1},
    ),
    (  # as books have them
        "<p>3<a href=#n epub:type=noteref>2</a> mg, 4<sup><a role=doc-noteref href=#m>1</a></sup> mg",
        "3^2 mg, 4^1 mg",
        {},
        {"paragraphs": 1},
    ),
    (
        "<table><tr><td><th>North<th>South<tr><th>2023<td>5<td>6</table>",
        "- 2023; North: 5; South: 6",
        {},
        {"tables": 1},
    ),
    (
        "<table><tr><th>Name<th>Role<th>Signature<tr><td>Ann<td>Lead<td></table>",
        "- Name: Ann; Role: Lead\n| Signature |",
        {},
        {"tables": 1},
    ),
    (
        "<p>E = <m:math xmlns:m='http://www.w3.org/1998/Math/MathML'><m:mi>m</m:mi><m:msup><m:mi>c</m:mi><m:mn>2</m:mn>"
        "</m:msup></m:math>",
        "E = mc^2",
        {},
        {"equations": 1, "paragraphs": 1},
    ),
    ("<!doctype html><section><p>No body</section>", "No body", {}, {"paragraphs": 1}),
]
MARKDOWN: list[tuple[str, str, Notes, Read]] = [
    (
        "<table><tr><th>A</th><th>B</th></tr><tr><td rowspan=2>x</td><td>1</td></tr><tr><td>2</td></tr></table>",
        "- A: x; B: 1\n- A: x; B: 2",
        {},
        {"tables": 1},
    ),
    (
        "<div><b>On Windows</b><p>Use *it* &lt;now&gt;</p></div>\n\nOn <b>Linux</b><p>Do",
        "On Windows\nUse it <now>\n\nOn Linux\nDo",
        {},
        {"paragraphs": 3},
    ),
    (
        "<table>\n<tr><th>A</th><th>B</th></tr>\n<tr>\n<td>\n\n**b** `a <b>` \\* x_y_z\n\n- l1\n\n</td>\n<td>\n\n"
        "```py\nx = 1\ny = 2\n```\n\n</td></tr>\n</table>\n\nAfter.",
        "- A: b `a <b>` * x_y_z • l1; B: x = 1 y = 2\n\nAfter.",
        {},
        {"tables": 1, "paragraphs": 1},
    ),
    (
        "<div><pre>\na &amp; b\n\n# *c*\n</pre></div>\n\nEnd *x*.",
        "```\na & b\n\n# *c*\n```\n\nEnd x.",
        {},
        {"blocks of code": 1, "paragraphs": 1},
    ),
    ("<div hidden>\n\nSecret\n\n</div>\n\nOpen.", "Open.", {"hidden_text": "1"}, {"paragraphs": 1}),
    ("<del>\n\nOld text\n\n</del>\n\nnew", "~~Old text~~\n\nnew", {}, {"paragraphs": 2}),
    (
        "| a | b |\n|---|---|\n| x<br>y | 1 \\| **2** |\n| 10<sup>9</sup> | <ul><li>p</li><li>q</li></ul> |",
        "| a | b |\n|---|---|\n| x y | 1 \\| 2 |\n| 10^9 | • p • q |",
        {},
        {"tables": 1},
    ),
    (
        "```html\n<b>x</b><br>\n```\n\n`<br>` and <kbd>C</kbd>\n\n    <b>code</b>",
        "```html\n<b>x</b><br>\n```\n\n`<br>` and C\n\n    <b>code</b>",
        {},
        {"blocks of code": 2, "paragraphs": 1},
    ),
    (
        "A[^1]\n\n[^1]: https://x.org/a\n\nTerm\n: Meaning",
        "A[Footnote 1]\n\n[Footnote 1] https://x.org/a\n\nTerm\n: Meaning",
        {},
        {"footnotes": 1, "paragraphs": 2},
    ),
    (
        "![](a.png) x ![alt](b.png) <img src=x> a < b",
        "x alt a < b",
        {"pictures_not_read": "2"},
        {"pictures": 1, "paragraphs": 1},
    ),
    ("[**b**](https://x.org) and [<img src=x alt=i>](y.md)", "b and i", {}, {"paragraphs": 1, "pictures": 1}),
    ("a <!-- one --> b\n\n<!--\ntwo\n\nthree\n-->\n\nc", "a b\n\nc", {"comments": "2"}, {"paragraphs": 2}),
    (
        "$a*b*c_{1}$ costs $5 or *$10*; $$\\{x\\}\n\\\\ *y*$$",
        "$a*b*c_{1}$ costs $5 or $10; $$\\{x\\}\n\\\\ *y*$$",
        {},
        {"paragraphs": 1},
    ),
    ("<Tabs>\n<Tab>One</Tab><Tab>Two</Tab>\n</Tabs>", "One Two", {}, {"paragraphs": 1}),
    (
        'import A from "./a"\nexport const rate = 5;\n\nText <Badge type="tip" text="v3.2+" />\n\n<Rate\n  of={5}\n/>',
        "Text",
        {"page_code": "3"},
        {"paragraphs": 1},
    ),
    ("a\n\n[//]: # (Dose 5)\n\nb", "a\n\nb", {"comments": "1"}, {"paragraphs": 2}),
]


@pytest.mark.parametrize(("page", "text", "notes", "parts"), PAGES)
def test_a_page_reads_as_a_browser_shows_it(page: str, text: str, notes: Notes, parts: Read) -> None:
    assert read("a.html", page) == (text, notes, parts)


@pytest.mark.parametrize(("page", "text", "notes", "parts"), MARKDOWN)
def test_html_between_markdown_reads_as_on_a_page(page: str, text: str, notes: Notes, parts: Read) -> None:
    assert read("a.md", page) == (text, notes, parts)


def test_tables_nested_hundreds_deep_are_no_trouble() -> None:
    page = "<table><tr><th>a<th>b<tr><td>" * 300 + "deep"
    assert read("a.html", page)[0].count("deep") == read("a.md", page)[0].count("deep") == 1


def test_what_a_page_hides_is_read_where_that_is_asked_for() -> None:
    assert read("a.html", "<p hidden>a</p><template>b</template><p>c", hidden=True)[:2] == ("a\n\nb\n\nc", {})
    assert read("a.md", "<p hidden>a</p>\n\nc", hidden=True)[:2] == ("a\n\nc", {})


FRONT: list[tuple[str, str, Notes]] = [
    ("limits:\n  days: 30\nactive: true\nteam: core", "limits.days: 30\nactive: true\nteam: core", {}),
    (
        "version: 1.10\ncountry: no\nat: 12:30\ndate: 2024-01-05\nlayout: page\nnone: null\n说明: {a: 1, b: [x, y]}",
        "version: 1.10\ncountry: no\nat: 12:30\ndate: 2024-01-05\n说明.a: 1\n说明.b: x, y",
        {"front_matter": "1"},
    ),
    ("steps:\n  - name: a\n    n: 1\n  - name: b", "steps[1].name: a\nsteps[1].n: 1\nsteps[2].name: b", {}),
    ("says: Foo: bar\nfor: all", "says: Foo: bar\nfor: all", {}),
    ("run: !!python/object/apply:os.system ['x']", "run: x", {}),
    ("a: &a [*a]", "a: &a [*a]", {}),
]


@pytest.mark.parametrize(("front", "text", "notes"), FRONT)
def test_front_matter_is_flattened_as_data_files_are(front: str, text: str, notes: Notes) -> None:
    assert read("a.md", f"---\n{front}\n---\n\nBody.")[:2] == (f"{text}\n\nBody.", notes)


def test_lines_of_front_matter_leave_the_first_heading_the_title() -> None:
    contents = load_markdown("a.md", b"---\nactive: true\n---\n\n# Lamps\n\nWords.\n\n## Oil\n\nMore.")
    assert contents.title == "Lamps"
    assert [(part.path, part.text) for part in contents.sections] == [
        ((), "active: true"), ((), "Words."), (("Oil",), "More."),
    ]  # fmt: skip
    assert load_markdown("a.md", b"Words.\n\n# Lamps\n\nMore.").title == ""
    other = load_markdown("a.md", b"---\ntitle: Oil lamps\n---\n# Lamps\n\nMore.")
    assert (other.title, other.sections[0].path) == ("Oil lamps", ("Lamps",))


def test_front_matter_in_toml_and_names_that_repeat_without_end() -> None:
    front = '+++\ntitle = "T"\nversion = 1.10\n[limits]\non = 2024-01-05\n+++\n\nBody.'
    assert read("a.md", front)[0] == "version: 1.10\nlimits.on: 2024-01-05\n\nBody."
    bomb = "\n".join(["a0: &a0 [x, x]", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 20))])
    assert len(read("a.md", f"---\n{bomb}\n---\n\nBody.")[0]) < 100_000


_TAGS = """<p> </p> <table> <tr> <td> </td> </table> <pre> </pre> <del> </del> <ul> <li> <sup> </sup>
    <div_hidden> </div>
    <br> <b> </b> &amp; <x-y> |_a_| \\n \\n\\n words 二 <math><mn>1</mn></math>""".split()


@given(st.lists(st.sampled_from(_TAGS), max_size=30))
def test_words_behind_any_html_are_read_and_lines_ascend(pieces: list[str]) -> None:
    text = "".join(pieces).replace("_", " ").replace("\\n", "\n")
    made = load_markdown("a.md", f"{text}\n\n</div></del></table></pre>\n\nThe last words.".encode())
    assert "The last words." in made.sections[-1].text
    for section in made.sections:
        assert len(section.lines) == section.text.count("\n") + 1
        assert list(section.lines) == sorted(section.lines)
