"""What `mkdocs.yml` needs beyond settings: files at the root of the project, and the words and pages in Chinese."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import rjieba
from material.plugins.search import plugin as search  # type: ignore[import-untyped]
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

_ROOT = Path(__file__).parents[1]
_COPIED = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "components/assets/icon.png")


def on_startup(**_: object) -> None:
    """Let the search divide Chinese into words by the segmenter of the program; the theme looks for another."""
    search.jieba = SimpleNamespace(cut=lambda text: rjieba.cut(text.decode()))


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Lay the pages out as they lie in the project, so that a link among them leads to the same page in both."""
    for file in list(files):
        if file.src_dir == config.docs_dir:
            files.remove(file)
            files.append(_at(f"docs/{file.src_uri}", config))
    for name in _COPIED:
        files.append(_at(name, config))
    return files


def on_post_page(output: str, page: Page, **_: object) -> str:
    """Name the language of a page in Chinese; the theme has one for all."""
    chinese = page.file.src_uri.startswith("docs/zh/")
    return output.replace('<html lang="en"', '<html lang="zh-CN"', 1) if chinese else output


def _at(path: str, config: MkDocsConfig) -> File:
    return File(path, str(_ROOT), config.site_dir, config.use_directory_urls)
