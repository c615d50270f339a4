from collections.abc import Callable
from pathlib import Path

import pytest

from scorers.errors import SubmissionFault
from scorers.files.limits import Limits
from scorers.files.tables import read_header, read_rows, read_text
from scorers.files.tree import SubmittedFile, Tree

FileOf = Callable[[bytes], SubmittedFile]


@pytest.fixture
def file_of(tmp_path: Path, tree_of: Callable[..., Tree]) -> FileOf:
    def of(content: bytes) -> SubmittedFile:
        (tmp_path / "table.csv").write_bytes(content)
        return tree_of(tmp_path).files[0]

    return of


def test_what_is_not_utf8_is_left_out_and_a_byte_order_mark_stays(file_of: FileOf) -> None:
    assert read_text(file_of(b"\xef\xbb\xbfX,\xb5m")) == "\ufeffX,m"


def test_rows_are_split_at_commas_and_blank_lines_kept(file_of: FileOf) -> None:
    assert read_rows(file_of(b'a,"b,c"\r\n\r\n1,2')) == [["a", "b,c"], [], ["1", "2"]]


def test_the_header_is_the_first_row_that_is_not_blank(file_of: FileOf) -> None:
    assert read_header(file_of(b"\n , \n X ,Y\n1,2\n")) == ["X", "Y"]


def test_a_file_of_nothing_has_no_header(file_of: FileOf) -> None:
    assert read_header(file_of(b"")) == []


@pytest.mark.parametrize(
    ("content", "limits", "reason"),
    [
        (b"1\n2\n3\n", Limits(rows=2), "more than 2 rows"),
        (b"1,2,3\n", Limits(columns=2), "more than 2 columns"),
        (b"1,2\n3,4\n", Limits(cells=3), "more than 3 cells"),
        (b"123456", Limits(text_bytes=5), "6 bytes, more than 5"),
        (b'1,"2\n' + b"3" * 9 + b'"', Limits(cell_chars=10), "a cell of more than 10"),
        (b"x" * 1000, Limits(columns=2, cell_chars=100), "line of more than 228 characters"),
        (b'"' + b"x" * 140_000 + b'"', Limits(), "no table"),
    ],
    ids=["rows", "columns", "cells", "bytes", "long cell", "line", "cell"],
)
def test_a_table_beyond_a_limit_is_refused_with_the_limit(
    content: bytes, limits: Limits, reason: str, file_of: FileOf
) -> None:
    with pytest.raises(SubmissionFault, match=reason):
        read_rows(file_of(content), limits)


def test_a_header_behind_endless_blank_rows_is_not_searched_for(file_of: FileOf) -> None:
    with pytest.raises(SubmissionFault, match="too many blank rows"):
        read_header(file_of(b"\n" * 10_001 + b"X,Y\n"))


def test_all_texts_of_a_submission_share_what_may_be_parsed(
    tmp_path: Path, tree_of: Callable[..., Tree]
) -> None:
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("1,2\n")
    first, second = tree_of(tmp_path, Limits(total_text_bytes=70)).files

    # A row takes its time however short it is.
    assert read_rows(first) == [["1", "2"]]
    with pytest.raises(SubmissionFault, match=r"b\.csv is not read: all texts together"):
        read_text(second)
