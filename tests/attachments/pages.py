"""Photographed pages, made once: rendered, then tilted, lit from one side, blurred and grained."""

from __future__ import annotations

from difflib import SequenceMatcher
from pathlib import Path

IMAGES = Path(__file__).parent / "images"
NOTE_EN = """\
Metformin is the first-line drug for type 2 diabetes.
The starting dose is 500 mg twice a day, with meals.
Check kidney function (eGFR) before treatment:
do not start below 30 mL/min/1.73 m2.
Common side effects: nausea, diarrhoea.
Patient: Ms. Grey, 61 years, HbA1c 8.4 %"""
NOTE_ZH = """\
二甲双胍是2型糖尿病的一线用药。
起始剂量为每次500毫克，每日两次，随餐服用。
用药前应检查肾功能（eGFR）：
低于30 mL/min/1.73 m2者不宜开始使用。
常见不良反应：恶心、腹泻。
患者：王女士，61岁，糖化血红蛋白8.4%"""
UPSIDE_DOWN = "出院小结\n二甲双胍每次500毫克，每日两次。"


def image(name: str) -> bytes:
    return (IMAGES / name).read_bytes()


def likeness(read: str, written: str) -> float:
    """Share of signs that agree, in order."""
    return SequenceMatcher(None, read, written, autojunk=False).ratio()
