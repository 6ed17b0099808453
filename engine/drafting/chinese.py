"""Questions that sentences and headings in Chinese hold, by their form."""

from __future__ import annotations

import re
from collections.abc import Iterator

from engine.builtin import segmenting
from engine.drafting.values import Found

_CODE = re.compile(r"`([^`]+)`")
_POINTS_BACK = re.compile(
    r"^(?:这|那|该|此|其|它|他|她|本(?!地|机|质)|上述|以上|以下|下面|前者|后者|同样|另外|但|而|所以|因此|例如|比如)"
    r"|(?:这[个些种时样]|那[个些种]|该(?!怎)|上述|以[上下](?!版本|级)|如[上下]|此时|它们?|其中|前者|后者|下[面列文])"
)
_NO_SUBJECT = re.compile(
    r"^[^\w`]|^[①-⑳❶-❿➊-➓]|^(?:WHEN|THEN|AND|GIVEN|返回值|返回结果|结果|响应|参数)|^(?:设置|允许|如果|当|若|由于|因为|为了|要|请|注意|默认|目前|通常|一般|可以|我们|你|您|用户可|这|那|该|此|其|它|本节|本文|"
    r"在|从|对|将|把|使用|通过|根据|除|虽然|即使|无论|只|也|还|又|并|且|或|和|与|及|首先|然后|最后|有|没有|不|建议|需要|应)"
)
_SUBJECT = r"(?P<subject>[^，。；：！？、“”（）()=\[\]]{2,24}?)"
_DEFINED = re.compile(
    rf"^{_SUBJECT}(?:（[^）]*）|\([^)]*\))?\s*(?:是指|指的是|是一[种个款套项类组条门]|是用[于来]|是基于|指(?=[^定出明向示针标令南数]))"
    r"(?P<what>.{6,})$"
)
_STANDS_FOR = re.compile(
    r"(?P<short>[A-Z][A-Za-z]{1,6})\s?[（(](?:全称(?:为|是)?\s*)?(?P<long>[A-Z][A-Za-z-]+(?:\s+[A-Za-z][A-Za-z-]+){1,5})[，,）)]"
)
_FIGURE = re.compile(
    r"(?P<number>`?\d+(?:\.\d+)?`?)\s*(?P<unit>个字符|个小时|个月|毫秒|微秒|分钟|小时|字节|字符|百分点|公里|千米|厘米|毫米|"
    r"毫升|毫克|千克|公斤|次|个|种|条|天|秒|年|周|岁|倍|层|步|位|页|行|克|米|元|名|人|%|％|[KMGT]i?B|ms\b|mmol/L|mg)"
)
_COUNTER = re.compile(r"(?:第|版本?\s*|v|V|HTTP/|[A-Za-z.:/-])$")
_UNIT_ONLY = frozenset("个种条次位名人步层")
_DEFAULT = re.compile(
    rf"^{_SUBJECT}(?:的)?默认值?(?:设置)?(?:为|是|：)\s*(?P<value>`[^`]+`|\d[\d.]*\s?[\u4e00-\u9fff%a-zA-Z]{{0,4}})(?P<rest>.{{0,40}})$"
)
_CONDITION = re.compile(
    r"^(?P<word>当|如果|若|一旦|在)(?P<clause>[^，。；：]{4,60}?)(?P<end>的时候|的情况下|的话|时|后|之后)?，(?P<main>.{6,})$"
)
_WISH = re.compile(r"^(?:你|您|用户|我们|大家)?\s*(?:想要?|需要|希望|要|打算)(?P<do>.{3,})$")
_TO_DO = re.compile(r"^(?:若要|如需|想要|要想|为了|要)(?P<do>[^，。；：]{4,40})，(?P<main>.{6,})$")
_YOU_CAN = re.compile(
    r"^(?:你|您|用户|我们|开发者)?(?:也|还)?可以(?:通过|使用|利用|用)(?P<how>[^，。；]{2,40}?)(?:来|以)(?P<do>[^，。；]{4,30})"
)
_TELLS = re.compile(r"^(?:请|你|您|需要?|可以|应当?|必须|建议|使用|将|把|则?需要?|则?可以|则?应)")
_POINTS_ON = re.compile(r"^(?:请?(?:参考|参阅|查看|参见|阅读|访问)|详[见情]|见)")
_NO_TASK = re.compile(
    r"^(?:了解|理解|保证|确保|避免|方便|防止|便于|让|使|能够?更|更好|简化|说明|演示|解决(?:这|该|此)|按照|参考)"
)
_NO_AIM = re.compile(r"(?:考虑|起见|目的|见)$|的(?:插件|功能|时候|话|情况|同时)")
_EMPTY_CLAUSE = re.compile(r"^(?:是|[设配]置[为成]|有任何|确实|存在|不存在|没有|有|还|仍|不|为|已)|必填$|我们")
_ASKING = re.compile(r"^(?:如何|怎样|怎么|为什么|为何|什么是|哪些|何时|是否)|(?:是什么|吗|呢|怎么办)?[？?]$")
_DOING = re.compile(
    r"^(?P<verb>配置|设置|创建|新建|添加|增加|删除|移除|更新|修改|启用|开启|禁用|关闭|停用|安装|部署|使用|测试|验证|构建|"
    r"编译|运行|启动|停止|重启|升级|迁移|调试|自定义|编写|编辑|查看|获取|查询|列出|限制|集成|注册|加载|替换|转换|处理|"
    r"隐藏|代理|转发|导入|导出|切换|检查|监控|调整|控制|保存|备份|恢复|扩展|实现|定义|指定|绑定|上传|下载|预防|治疗|诊断|"
    r"计算|证明|求解|判断|测量|收集|开发)(?P<object>(?!时)\S.{1,24})$"
)
_GENERIC = re.compile(
    r"^怎样(?P<verb>启用|禁用|删除|测试|使用|配置|添加|安装|停用|关闭|开启|移除)"
    r"(?P<object>插件|组件|模块|服务|功能)？$"
)
_NOUN_END = re.compile(
    r"(?:示例|例子|说明|概述|介绍|流程|原理|指南|步骤|方法|方式|场景|教程|建议|思路|注意事项|更新|机制|要求|"
    r"架构|规则|参数|字段|选项|列表|接口|脚本)$"
)
_LISTS = re.compile(
    r"^(?P<what>优点|缺点|优势|限制|局限(?:性)?|前提条件|先决条件|前置条件|注意事项|适用场景|使用场景|"
    r"并发症|症状)$"
)
_LONGEST, _SHORTEST = 60, 5


def of_sentence(sentence: str) -> Iterator[Found]:
    """Questions that one sentence answers."""
    text = sentence.strip().rstrip("。.；;")
    if not 8 <= len(text) <= 140 or "\n" in text or text.endswith(("？", "?", "：", ":")):
        return
    for rule in (_stands_for, _defaults, _figures, _ways, _conditions, _definitions):
        for found in rule(text):
            if _SHORTEST <= len(found.question) <= _LONGEST and not _odd(found.question):
                yield Found(found.rule, found.question, found.gold, sentence)


def of_heading(heading: str, title: str) -> Iterator[Found]:
    """Questions that a heading poses."""
    plain = _plain(
        re.sub(
            r"^(?:\d+[.、)]\s*|[一二三四五六七八九十]+、\s*|步骤\s*\d*[:：]?\s*)+",
            "",
            heading.strip().strip("#").strip(),
        )
    )
    if not 3 <= len(plain) <= 30:
        return
    if _ASKING.search(plain):
        if len(plain) >= 6:
            yield Found("heading", plain if plain.endswith(("？", "?")) else f"{plain}？", quote=heading)
    elif (found := _LISTS.match(plain)) and title:
        yield Found("heading", f"{title}有哪些{found.group('what')}？", quote=heading)
    elif (found := _DOING.match(plain)) and not _NOUN_END.search(plain) and "与" not in plain and "和" not in plain[:4]:
        yield Found("heading", f"怎样{plain}？", quote=heading)


def within(question: str, title: str) -> str:
    """The question of a heading that stands in several documents, with the title of its own."""
    if re.fullmatch(r"[\w.@/-]+", title) and title.isascii() and (found := _GENERIC.match(question)):
        return f"怎样{found.group('verb')} {title} {found.group('object')}？"
    return together(f"在 {title} 中，{question}")


def _stands_for(text: str) -> Iterator[Found]:
    for found in _STANDS_FOR.finditer(text):
        initials = "".join(word[0] for word in re.split(r"[\s-]+", found.group("long"))).upper()
        if found.group("short").upper() == initials:
            yield Found("definition", f"{found.group('short')} 的全称是什么？", (found.group("long"),))


def _definitions(text: str) -> Iterator[Found]:
    found = _DEFINED.match(text)
    if found and _names(found.group("subject")):
        subject = _plain(found.group("subject"))
        yield Found("definition", f"什么是 {subject}？" if subject[0].isascii() else f"什么是{subject}？")


def _defaults(text: str) -> Iterator[Found]:
    found = _DEFAULT.match(text)
    if found and _names(found.group("subject")):
        subject = _plain(found.group("subject")).removesuffix("的")
        yield Found("figure", f"{subject}的默认值是什么？", _gold(found.group("value")))


def _figures(text: str) -> Iterator[Found]:
    numbers = list(_FIGURE.finditer(text))
    if len(numbers) != 1 or len(re.findall(r"\d+(?:\.\d+)?", text)) != 1 or len(text) > 60:
        return
    found = numbers[0]
    before, after = text[: found.start()], text[found.end() :]
    clause_start = max(before.rfind("，"), before.rfind("；"), before.rfind("："))
    clause_end = min((place for sign in "，；：" if (place := after.find(sign)) >= 0), default=len(after))
    lead = before[clause_start + 1 :]
    if clause_start >= 0 and not _names(lead, loose=True):
        lead = before
    subject = re.split(r"[是为有在达不超至少最约]", lead.strip())[0]
    if (
        re.search(r"[(（:：≥≤<>]", lead)
        or not _names(subject, loose=True)
        or _COUNTER.search(before)
        or _POINTS_BACK.search(lead)
        or _NO_SUBJECT.match(lead)
        or len(subject) < 2
    ):
        return
    unit = found.group("unit")
    asked = "百分之多少" if unit in ("%", "％") else f"多少{'' if unit[0] not in 'KMGTm' else ' '}{unit}"
    asked = f"几{unit}" if unit in _UNIT_ONLY and len(found.group("number").strip("`")) < 2 else asked
    whole = f"{lead}{asked}{after[:clause_end]}"
    gold = f"{_plain(found.group('number'))}{' ' if ' ' in found.group() else ''}{unit}"
    yield Found("figure", _plain(f"{whole}？"), (gold,))


def _ways(text: str) -> Iterator[Found]:
    do = ""
    if found := _TO_DO.match(text):
        do = "" if _POINTS_ON.match(found.group("main")) else found.group("do")
    elif (found := _CONDITION.match(text)) and (wish := _WISH.match(found.group("clause"))):
        do = "" if _POINTS_ON.match(found.group("main")) else wish.group("do")
    elif found := _YOU_CAN.match(text):
        do = found.group("do")
    do = re.sub(r"[你您]的?", "", do)
    if do and not _POINTS_BACK.search(do) and not _NO_TASK.match(do) and not do[0].isascii() and not _NO_AIM.search(do):
        yield Found("way", f"怎样{_plain(do)}？")


def _conditions(text: str) -> Iterator[Found]:
    found = _CONDITION.match(text)
    if found is None or (found.group("word") == "在" and not found.group("end")):
        return
    clause, main = found.group("clause").strip(), found.group("main")
    if re.search(r"[:：(（]", clause):
        return
    if _WISH.match(clause) or _POINTS_BACK.search(clause) or _POINTS_ON.match(main) or len(clause) < 6:
        return
    if (
        found.group("word") == "在"
        or _EMPTY_CLAUSE.search(clause)
        or (len(clause) < 8 and not re.search("[A-Za-z]", clause))
    ):
        return
    asks = "应该怎么做" if _TELLS.match(main) else "会怎样"
    end = found.group("end") or ""
    word = "当" if found.group("word") == "当" else "如果"
    apart = " " if end and clause[-1].isascii() else ""
    after = end if word == "当" or end in ("后", "之后") else ""
    lead = f"{word}{' ' if clause[0].isascii() else ''}{_plain(clause)}{apart}{after}"
    yield Found("condition", f"{lead}，{asks}？".replace("你", "").replace("您", ""))


def _names(subject: str, *, loose: bool = False) -> bool:
    plain = _plain(subject)
    if len(plain) < 2 or _NO_SUBJECT.match(plain) or _POINTS_BACK.search(plain):
        return False
    if re.search(r"[是在将把被让会能可]", plain) and not loose:
        return False
    tags = [tag for word, tag in segmenting.tag(plain) if word.strip()]
    if not tags or (tags[0][0] in "vpcdrmqy" and tags[0] != "vn"):
        return False
    return loose or tags[-1][0] in "njle" or tags[-1] in ("vn", "an", "x", "eng")


def _gold(value: str) -> tuple[str, ...]:
    plain = _plain(value).strip(" 。，；'\"")
    return (plain,) if plain and len(plain) <= 40 else ()


def _plain(text: str) -> str:
    return together(" ".join(_CODE.sub(r"\1", text).replace("**", "").split()).strip(" ，；,"))


def together(text: str) -> str:
    """Chinese without spaces between its own characters, as back-ticks and joined parts leave them."""
    return re.sub(r"(?<=[\u4e00-\u9fff，。？：、]) +(?=[\u4e00-\u9fff，。？：、])", "", text)


def _odd(question: str) -> bool:
    pairs = (("（", "）"), ("(", ")"), ("“", "”"), ("「", "」"), ("[", "]"), ("{", "}"))
    return any(question.count(one) != question.count(other) for one, other in pairs) or question.count('"') % 2 == 1
