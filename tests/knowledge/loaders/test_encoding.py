"""Encodings beyond UTF and GB 18030: read where the text leaves no doubt, refused where it does."""

from __future__ import annotations

import pytest

from engine.errors import SourceEncoding
from engine.knowledge.load import load_bytes
from engine.knowledge.loaders.contents import note
from engine.knowledge.loaders.encoding import read_text

TRADITIONAL = "糖尿病的主要症狀是多飲、多尿、多食和體重下降。患者應該定期檢查血糖，注意飲食與運動，並按時服藥。"
SIMPLIFIED = "糖尿病的主要症状是多饮、多尿、多食和体重下降。患者应该定期检查血糖，注意饮食与运动，并按时服药。"
JAPANESE = "糖尿病の主な症状は、のどが渇く、尿が多い、体重が減るなどです。定期的に検査を受けましょう。"
KOREAN = "당뇨병의 주요 증상은 다음, 다뇨, 다식 및 체중 감소입니다. 정기적으로 검사를 받으세요."
GERMAN = "Die Krankheit äußert sich durch Durst und häufige Müdigkeit. Größere Mengen führen zu Übergewicht. Ärzte. "
FRENCH = "La diabète se manifeste par une soif élevée et des urines fréquentes. Les médecins vérifient régulièrement. "
CZECH = "Příznaky cukrovky jsou žízeň, únava a časté močení. Lékaři pravidelně kontrolují hladinu cukru. "
RUSSIAN = "Диабет проявляется жаждой, усталостью. Врачи регулярно проверяют уровень сахара. "


@pytest.mark.parametrize(
    ("text", "encoding", "named"),
    [
        (TRADITIONAL, "big5", "big5"),
        (JAPANESE, "shift_jis", "cp932"),
        (JAPANESE, "euc_jp", "euc_jp"),
        (KOREAN, "euc_kr", "euc_kr"),
        (GERMAN * 3, "latin-1", "cp1252"),
        (FRENCH * 4, "cp1252", "cp1252"),
    ],
)
def test_an_older_encoding_is_read_where_its_text_leaves_no_doubt_and_said_to_be_a_guess(
    text: str, encoding: str, named: str
) -> None:
    document = load_bytes("a.txt", text.encode(encoding))
    assert document.sections[0].text == text
    assert document.encoding == named
    assert document.notes == (note("encoding", encoding=named),)


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (CZECH * 3, "cp1250"),
        (RUSSIAN * 3, "cp1251"),
        (RUSSIAN * 3, "koi8-r"),
        (GERMAN[:30], "latin-1"),
        (TRADITIONAL, "gbk"),
    ],
)
def test_what_may_be_several_encodings_is_refused(text: str, encoding: str) -> None:
    with pytest.raises(SourceEncoding, match="is not certain"):
        load_bytes("a.txt", text.encode(encoding))


@pytest.mark.parametrize("length", [5, 20, 45, len(SIMPLIFIED)])
def test_chinese_in_gb_18030_stays_chinese_however_short(length: int) -> None:
    document = load_bytes("a.txt", SIMPLIFIED[:length].encode("gb18030"))
    assert (document.sections[0].text, document.encoding) == (SIMPLIFIED[:length], "gb18030")
    assert document.notes == ()


def test_a_declared_encoding_counts_only_where_the_bytes_fit() -> None:
    assert read_text("a", TRADITIONAL.encode("big5"), "big5").encoding == "big5"
    assert read_text("a", SIMPLIFIED.encode(), "gb2312").encoding == "utf-8"
    assert read_text("a", SIMPLIFIED.encode("gb18030"), "no-such").encoding == "gb18030"
    assert read_text("a", SIMPLIFIED.encode("gb18030"), "utf-7").encoding == "gb18030"


def test_the_format_and_encoding_of_a_document_are_kept() -> None:
    document = load_bytes("b.MD", SIMPLIFIED.encode("utf-16"))
    assert (document.format, document.encoding, document.notes) == ("md", "utf-16", ())
