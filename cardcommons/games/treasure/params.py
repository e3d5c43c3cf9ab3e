"""Treasure: the parameters."""

from dataclasses import dataclass

from cardcommons.treaty import require_bool, require_choice, require_range


@dataclass(frozen=True)
class TreasureParams:
    """What a game of Treasure can be told.  The defaults are the game; the rest shrink it.

    Attributes:
        rows: 2 to 5.
        columns: the most that ever hold cards, 1 to 5.
        ranks: how many ranks a deck has, from 2 up, 1 to 13.
        copies: of each rank, 1 or 2.
        treasure: whether each deck has a Treasure.
        hand: cards drawn at a time, 1 to 3.
        utility: ``"win"`` (1, 0 or -1) or ``"margin"`` (points minus the other's).
    """

    rows: int = 5
    columns: int = 5
    ranks: int = 13
    copies: int = 2
    treasure: bool = True
    hand: int = 3
    utility: str = "win"

    def __post_init__(self) -> None:
        require_range("rows", self.rows, 2, 5)
        require_range("columns", self.columns, 1, 5)
        require_range("ranks", self.ranks, 1, 13)
        require_range("copies", self.copies, 1, 2)
        require_bool("treasure", self.treasure)
        require_range("hand", self.hand, 1, 3)
        require_choice("utility", self.utility, ("win", "margin"))

    @property
    def deck(self) -> int:
        """How many cards a deck has."""
        return self.ranks * self.copies + self.treasure
