"""HTML: the main text with its structure, in the encoding that the page is really in, and nothing fetched."""

from __future__ import annotations

import pytest

from engine.errors import SourceEmpty, SourceMislabelled
from engine.knowledge.load import load_bytes
from engine.knowledge.loaders.contents import Section, note
from engine.knowledge.loaders.web_page import load_html


def sections(body: str) -> list[tuple[tuple[str, ...], str]]:
    contents = load_html("a.html", f"<html><body>{body}</body></html>".encode())
    return [(section.path, section.text) for section in contents.sections]


def test_headings_paragraphs_lists_and_tables_come_out_in_order() -> None:
    body = """
        <h1>手册</h1><p>第一段中文
        换行<b>粗</b>体<br>新行 English
        words.</p>
        <h2>列表</h2><ul><li>甲<ul><li>乙</li></ul></li><li><p>丙</p></li></ul><ol start=1><li>x<li>y</ol>
        <h2>表格</h2><table><tr><th>名</th><th>数</th></tr><tr><td>a</td><td>1</td></tr></table>
        <h3>代码</h3><pre>x = 1
  y = 2</pre>"""
    assert sections(body) == [
        ((), "第一段中文换行粗体\n新行 English words."),
        (("列表",), "- 甲\n  - 乙\n- 丙\n\n1. x\n2. y"),
        (("表格",), "- 名: a; 数: 1"),
        (("表格", "代码"), "```\nx = 1\n  y = 2\n```"),
    ]


def test_what_stands_around_the_main_text_is_left_out() -> None:
    body = """<header>站名</header><nav>导航</nav><main><p>正文很长很长很长。</p></main><aside>广告</aside>
        <script>var x = '脚本'</script><style>p {}</style><noscript>请打开脚本</noscript><footer>版权</footer>
        <p style="display: none">看不见</p><template>模板</template><!-- 注释 -->"""
    assert sections(body) == [((), "正文很长很长很长。")]
    assert sections(body.replace("main", "div")) == [((), "正文很长很长很长。")]


def test_a_list_ends_where_a_heading_stands_in_it() -> None:
    assert sections("<ul><li>one<h2>Head</h2><p>two</p></li></ul>") == [((), "- one"), (("Head",), "two")]


def test_a_page_that_is_all_frame_is_read_rather_than_empty() -> None:
    assert sections("<nav><p>只有这些</p></nav>") == [((), "只有这些")]


@pytest.mark.parametrize(
    ("head", "encoding"),
    [
        ("<meta charset='gb2312'>", "gb18030"),
        ("<meta http-equiv=Content-Type content='text/html; charset=GBK'>", "gb18030"),
        ("<meta charset=big5>", "big5"),
        ("<meta charset=Shift_JIS>", "cp932"),
        ("<meta charset=utf-8>", "utf-8"),
        ("<meta charset=gb2312>", "utf-8"),
        ("", "gb18030"),
        ("", "utf-16"),
    ],
)
def test_the_encoding_is_the_declared_one_unless_the_bytes_say_otherwise(head: str, encoding: str) -> None:
    words = "日本" if encoding == "cp932" else "中文"
    data = f"<html><head>{head}</head><body><p>{words}</p></body></html>".encode(encoding)
    contents = load_html("a.html", data)
    assert contents.sections == (Section((), words),)
    assert contents.encoding == encoding


def test_the_title_is_the_pages_own() -> None:
    data = "<title> 页面 标题 </title><h1>标题</h1><p>文</p>".encode()
    assert load_bytes("a.html", data).title == "页面 标题"
    assert load_bytes("a.htm", "<h1>标题</h1><p>文</p>".encode()).title == "标题"


def test_entities_of_a_document_type_are_not_expanded_and_no_file_is_read() -> None:
    data = b"""<!DOCTYPE html [<!ENTITY x SYSTEM "file:///etc/passwd"><!ENTITY y "yyyy">]>
        <html><body><p>before &x; &y; after</p><img src="http://example.com/a.png"></body></html>"""
    text = load_html("a.html", data).sections[0].text
    assert "root:" not in text and "yyyy" not in text
    assert "before" in text and "after" in text


def test_tags_nested_thousands_deep_are_no_trouble() -> None:
    assert sections("<div>" * 2000 + "<p>深处</p>") == [((), "深处")]
    assert sections("<p>上面</p>" + "<b>" * 100_000)[0] == ((), "上面")


def test_a_page_whose_parser_stops_inside_of_thousands_of_tags_says_so() -> None:
    contents = load_html("a.html", b"<p>Begin<p>" + b"<div>" * 5000 + b"deep" + b"</div>" * 5000 + b"<p>end")
    assert contents.notes == (note("blocks_broken", count=1),)


def test_pages_without_words_and_files_that_are_no_text() -> None:
    with pytest.raises(SourceEmpty):
        load_bytes("a.html", b"<html><script>x</script></html>")
    with pytest.raises(SourceEmpty):
        load_bytes("a.html", b"  \n ")
    with pytest.raises(SourceMislabelled, match="PDF"):
        load_bytes("a.html", b"%PDF-1.7")


def test_an_encoding_that_is_stated_behind_long_scripts_is_found() -> None:
    page = f"<script>{'x' * 9000}</script><meta charset=windows-1251><p>Аренда квартир".encode("cp1251")
    assert load_html("a.html", page).sections[0].text == "Аренда квартир"


@pytest.mark.parametrize(
    ("titles", "found"),
    [
        ("<title>Site</title><h1>Refunds</h1>", ("Site", ("Refunds", "B"))),
        ("<title>Refunds - Site</title><h1>Refunds<a>¶</a></h1>", ("Refunds - Site", ("B",))),
        ("<h1>Refunds</h1>", ("Refunds", ("B",))),
    ],
)
def test_a_heading_that_the_title_of_the_page_does_not_say_stays(titles: str, found: tuple[str, object]) -> None:
    contents = load_html("a.html", f"{titles}<h2>B</h2><p>x".encode())
    assert (contents.title, contents.sections[0].path) == found
