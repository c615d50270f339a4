from __future__ import annotations

import pytest

from evals.scoring.markdown import escaped, shown, table


@pytest.mark.parametrize(
    "hostile",
    [
        "a|b",
        "`code`",
        "<img src=x onerror=alert(1)>",
        "![x](http://evil/p.png)",
        "[click](javascript:alert(1))",
        "$x$",
        "a&lt;b",
        "back\\slash",
    ],
)
def test_signs_that_mean_something_in_markdown_are_entities(hostile: str) -> None:
    text = escaped(hostile)
    assert not set("|<$[]") & set(text)
    assert not set("\\`") & set(text.replace("\\!", "").replace("\\`", ""))


def test_brackets_that_mean_nothing_alone_stay_readable() -> None:
    assert escaped("{a} (b)") == "{a} (b)"
    assert "](" not in escaped("[click](javascript:alert(1))")


def test_emphasis_and_headings_are_escaped() -> None:
    assert escaped("*a* _b_ # c ~d~") == r"\*a\* \_b\_ \# c \~d\~"


def test_addresses_do_not_become_links() -> None:
    assert "://" not in escaped("see https://example.org")
    assert "www." not in escaped("www.example.org")
    assert "@" not in escaped("me@example.org")


def test_a_text_stays_on_one_line_and_is_cut() -> None:
    assert escaped("a\n\nb\tc") == "a b c"
    assert escaped("x" * 400, limit=10) == "x" * 9 + "…"


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.75, "0.75"), (1.0, "1"), (0.123456, "0.1235"), (None, ""), (True, "yes"), (3, "3")],
)
def test_cells_show_numbers_shortly(value: object, text: str) -> None:
    assert shown(value) == text


def test_a_table_has_as_many_columns_in_each_line() -> None:
    lines = table(["a", "b"], [["x|y", 1], ["z", None]]).splitlines()
    assert [line.count("|") for line in lines] == [3, 3, 3, 3]


def test_a_table_without_rows_is_nothing() -> None:
    assert table(["a"], []) == ""
