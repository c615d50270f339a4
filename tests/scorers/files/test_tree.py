import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from scorers.errors import SubmissionFault
from scorers.files.limits import Limits
from scorers.files.tree import Tree, reference_tree

TreeOf = Callable[..., Tree]


def _paths(tree: Tree) -> list[str]:
    return [str(file.path) for file in tree.files]


def _reasons(tree: Tree) -> dict[str, str]:
    return {refusal.path: refusal.reason for refusal in tree.refused}


def test_files_come_in_the_order_of_their_path_components(tmp_path: Path, tree_of: TreeOf) -> None:
    (tmp_path / "a").mkdir()
    for name in ("a.csv", "a/z.csv", "b.csv", "a-b.csv"):
        (tmp_path / name).write_text(name)

    assert _paths(tree_of(tmp_path)) == ["a/z.csv", "a-b.csv", "a.csv", "b.csv"]


def test_a_link_to_a_file_is_refused_with_its_reason(tmp_path: Path, tree_of: TreeOf) -> None:
    outside = tmp_path / "outside.csv"
    outside.write_text("secret")
    folder = tmp_path / "submission"
    folder.mkdir()
    (folder / "inside.csv").symlink_to(outside)

    tree = tree_of(folder)

    assert _paths(tree) == []
    assert _reasons(tree) == {"inside.csv": "a link, not a regular file"}


def test_a_link_to_a_folder_is_not_descended_into(tmp_path: Path, tree_of: TreeOf) -> None:
    (tmp_path / "reference").mkdir()
    (tmp_path / "reference" / "mask.tif").write_text("secret")
    folder = tmp_path / "submission"
    folder.mkdir()
    (folder / "masks").symlink_to(tmp_path / "reference")

    assert _paths(tree_of(folder)) == []


def test_a_root_that_is_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")

    with pytest.raises(SubmissionFault, match="cannot read the folder link"):
        Tree(tmp_path / "link", Limits())


def test_a_named_pipe_is_refused_without_waiting_for_a_writer(
    tmp_path: Path, tree_of: TreeOf
) -> None:
    os.mkfifo(tmp_path / "pipe.csv")

    assert _reasons(tree_of(tmp_path)) == {"pipe.csv": "a named pipe, not a regular file"}


def test_a_socket_is_refused(
    tmp_path: Path, tree_of: TreeOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("s.csv")
        assert _reasons(tree_of(tmp_path)) == {"s.csv": "a socket, not a regular file"}


@pytest.mark.parametrize(
    "name", ["new\nline.csv", "bell\a.csv", "over\u202evsc.csv", "escape\x1b[2J"]
)
def test_a_name_that_would_deceive_a_reader_is_refused(
    name: str, tmp_path: Path, tree_of: TreeOf
) -> None:
    (tmp_path / name).write_text("1")

    tree = tree_of(tmp_path)

    assert _paths(tree) == []
    assert tree.refused[0].path.isprintable()


def test_a_name_that_is_not_utf8_is_refused(tmp_path: Path, tree_of: TreeOf) -> None:
    with open(os.path.join(os.fsencode(tmp_path), b"\xff.csv"), "wb"):
        pass

    tree = tree_of(tmp_path)

    assert _reasons(tree) == {
        "\\udcff.csv": "a name with control characters or bytes that are not UTF-8"
    }


@pytest.mark.parametrize("name", ["Ünïcode 细胞.csv", "-rf.csv", "a*?[b].csv", "$(id).csv", "~"])
def test_an_odd_but_honest_name_is_read(name: str, tmp_path: Path, tree_of: TreeOf) -> None:
    (tmp_path / name).write_bytes(b"cells")

    (file,) = tree_of(tmp_path).files

    assert file.read_bytes(100) == b"cells"


def test_a_file_beyond_its_size_is_refused(tmp_path: Path, tree_of: TreeOf) -> None:
    (tmp_path / "a.csv").write_bytes(b"123456")

    assert _reasons(tree_of(tmp_path, Limits(file_bytes=5))) == {"a.csv": "6 bytes, more than 5"}


def test_a_sparse_file_counts_with_its_apparent_size(tmp_path: Path, tree_of: TreeOf) -> None:
    with (tmp_path / "hole.tif").open("wb") as file:
        file.truncate(2**40)

    assert _paths(tree_of(tmp_path)) == []


def test_files_beyond_the_total_are_refused_and_smaller_ones_kept(
    tmp_path: Path, tree_of: TreeOf
) -> None:
    for name, size in (("a", 4), ("b", 9), ("c", 5)):
        (tmp_path / name).write_bytes(b"x" * size)

    tree = tree_of(tmp_path, Limits(total_bytes=10))

    assert _paths(tree) == ["a", "c"]
    assert _reasons(tree) == {"b": "all files together exceed 10 bytes"}


def test_listing_stops_at_the_number_of_files(tmp_path: Path, tree_of: TreeOf) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        for number in range(3):
            (tmp_path / folder / f"{number}").touch()

    assert _paths(tree_of(tmp_path, Limits(files=4))) == ["a/0", "a/1", "a/2", "b/0"]


def test_a_folder_with_too_many_entries_is_refused_as_a_whole(
    tmp_path: Path, tree_of: TreeOf
) -> None:
    for number in range(5):
        (tmp_path / f"{number}").touch()

    tree = tree_of(tmp_path, Limits(files=4))

    assert _paths(tree) == []
    assert _reasons(tree) == {".": "a folder of more than 4 entries"}


def test_folders_nested_too_deeply_are_not_descended_into(tmp_path: Path, tree_of: TreeOf) -> None:
    (tmp_path / "a" / "b" / "c").mkdir(parents=True)
    (tmp_path / "a" / "x").touch()
    (tmp_path / "a" / "b" / "c" / "x").touch()

    tree = tree_of(tmp_path, Limits(depth=2))

    assert _paths(tree) == ["a/x"]
    assert _reasons(tree) == {"a/b/c": "more than 2 folders deep"}


def test_a_file_swapped_for_a_link_after_listing_is_not_opened(
    tmp_path: Path, tree_of: TreeOf
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    folder = tmp_path / "submission"
    folder.mkdir()
    (folder / "a.csv").write_text("1")
    (file,) = tree_of(folder).files
    (folder / "a.csv").unlink()
    (folder / "a.csv").symlink_to(secret)

    with pytest.raises(SubmissionFault, match=r"cannot open a\.csv"):
        file.open()


def test_a_folder_swapped_for_a_link_after_listing_is_not_passed_through(
    tmp_path: Path, tree_of: TreeOf
) -> None:
    (tmp_path / "reference").mkdir()
    (tmp_path / "reference" / "a.csv").write_text("secret")
    folder = tmp_path / "submission"
    (folder / "masks").mkdir(parents=True)
    (folder / "masks" / "a.csv").write_text("1")
    (file,) = tree_of(folder).files
    (folder / "masks").rename(tmp_path / "gone")
    (folder / "masks").symlink_to(tmp_path / "reference")

    with pytest.raises(SubmissionFault, match=r"cannot open masks/a\.csv"):
        file.open()


def test_a_file_swapped_for_a_pipe_does_not_hang(tmp_path: Path, tree_of: TreeOf) -> None:
    (tmp_path / "a.csv").write_text("1")
    (file,) = tree_of(tmp_path).files
    (tmp_path / "a.csv").unlink()
    os.mkfifo(tmp_path / "a.csv")

    with pytest.raises(SubmissionFault, match="changed while it was read"):
        file.open()


def test_a_file_that_grew_since_listing_is_refused(tmp_path: Path, tree_of: TreeOf) -> None:
    (tmp_path / "a.csv").write_text("1")
    (file,) = tree_of(tmp_path).files
    (tmp_path / "a.csv").write_text("12")

    with pytest.raises(SubmissionFault, match="changed while it was read"):
        file.read_bytes(100)


def test_an_opened_file_hands_no_descriptor_and_no_path_on(tmp_path: Path, tree_of: TreeOf) -> None:
    (tmp_path / "a.tif").write_bytes(b"0123456789")
    with tree_of(tmp_path).files[0].open() as stream:
        stream.seek(4)
        assert stream.read(3) == b"456"
        assert not hasattr(stream, "name")
        with pytest.raises(OSError, match="fileno"):
            stream.fileno()


def test_reading_more_than_allowed_is_refused(tmp_path: Path, tree_of: TreeOf) -> None:
    (tmp_path / "a.txt").write_bytes(b"12345")
    (file,) = tree_of(tmp_path).files

    with pytest.raises(SubmissionFault, match="5 bytes, more than 4"):
        file.read_bytes(4)


def test_a_reference_in_a_download_cache_is_read_through_its_links(tmp_path: Path) -> None:
    (tmp_path / "blob").write_bytes(b"mask")
    folder = tmp_path / "evaluation"
    folder.mkdir()
    (folder / "a.tif").symlink_to(tmp_path / "blob")

    with reference_tree(folder, Limits(file_bytes=1)) as tree:
        assert [file.read_bytes(10) for file in tree.files] == [b"mask"]


def test_a_closed_tree_opens_nothing(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    with Tree(tmp_path, Limits()) as tree:
        (file,) = tree.files

    with pytest.raises(SubmissionFault, match="cannot open a"):
        file.open()


def test_more_than_may_be_read_at_once_is_refused_before_room_is_made(
    tmp_path: Path, tree_of: TreeOf
) -> None:
    (tmp_path / "a").write_bytes(bytes(100))
    with tree_of(tmp_path).files[0].open(most=50) as stream:
        stream.seek(60)
        assert stream.read(2**60) == bytes(40)
        stream.seek(10)
        with pytest.raises(SubmissionFault, match="asks for 90 bytes at once, more than 50"):
            stream.read()


def test_files_of_one_inode_are_read_under_each_name(tmp_path: Path, tree_of: TreeOf) -> None:
    (tmp_path / "a").write_bytes(b"cells")
    os.link(tmp_path / "a", tmp_path / "b")

    assert [file.read_bytes(9) for file in tree_of(tmp_path).files] == [b"cells"] * 2
