"""What `mkdocs.yml` needs beyond settings: the files at the root of the project, and the words of Chinese text."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import rjieba
from material.plugins.search import plugin as search  # type: ignore[import-untyped]
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

_ROOT = Path(__file__).parents[1]
_BESIDE = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "components/assets/icon.png")


def on_startup(**_: object) -> None:
    """Let the search divide Chinese into words by the segmenter of the program; the theme looks for another."""
    search.jieba = SimpleNamespace(cut=lambda text: rjieba.cut(text.decode()))


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Lay the pages out as they lie in the project, so that a link among them leads to the same page in both."""
    for file in list(files):
        if file.src_dir == config.docs_dir:
            files.remove(file)
            files.append(_at(f"docs/{file.src_uri}", config))
    for name in _BESIDE:
        files.append(_at(name, config))
    return files


def _at(path: str, config: MkDocsConfig) -> File:
    return File(path, str(_ROOT), config.site_dir, config.use_directory_urls)
