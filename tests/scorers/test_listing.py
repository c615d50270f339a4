from scorers.listing import Listing


def test_entries_are_taken_as_long_as_there_is_room() -> None:
    listing = Listing(12)

    assert listing.take(["abc", "de", "f", "g"]) == ["abc", "de", "f"]
    assert listing.take(["h"]) == []
    assert listing.left_out == 2
