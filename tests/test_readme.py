"""The README's Python runs as it stands, from top to bottom."""

import re
from pathlib import Path

import pytest

README = Path(__file__).resolve().parents[1] / "README.md"


def test_the_snippets_run_one_after_the_other(capsys: pytest.CaptureFixture[str]) -> None:
    snippets = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert len(snippets) >= 4
    names: dict[str, object] = {}
    for snippet in snippets:
        exec(compile(snippet, str(README), "exec"), names)
    assert "3h" in capsys.readouterr().out


def test_nothing_was_left_to_fill_in() -> None:
    assert "BENCH" not in README.read_text(encoding="utf-8")
