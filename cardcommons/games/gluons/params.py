"""Gluons: the parameters."""

from dataclasses import dataclass

from cardcommons.treaty import require_bool, require_choice, require_range, require_string

PAIRS = ("RG", "RB", "GR", "GB", "BR", "BG")
"""The gluons, a colour and an anticolour each; the place in the list is a pair's number."""

SIDES = ("12", "13", "21", "23", "31", "32")
"""The areas of a nucleon, the emitting and the receiving vertex each; likewise."""

_MOST_PLAYS = 3
_DRAWS = 2


@dataclass(frozen=True)
class GluonsParams:
    """What a game of Gluons can be told.  The defaults are the game for two.

    Attributes:
        players: 2 to 4; three or four play on two nucleons.
        face_up: whether every gluon is played face up.
        reemission: whether a gluon from hand can make an interaction valid.
        copies: of each pair in a deck, 1 or 2.
        hand: cards drawn at first, and the most that a hand holds, 1 to 5.
        utility: ``"win"`` (1 for the winner, the others share the loss) or ``"points"`` (own
            points minus the mean of all).
        max_rounds: the game is scored after so many rounds, 0 to 15; 0 for no such limit.
        pairs: the pairs in the decks, as ``RG-GR-RB``; empty for all six.
        sides: the areas that each nucleon has, as ``12-21-23-32``; empty for all six.  A ``/`` may
            end the list: OpenSpiel's parameter strings take ``12-21`` for a number, but not
            ``12-21/``.
    """

    players: int = 2
    face_up: bool = False
    reemission: bool = False
    copies: int = 2
    hand: int = 5
    utility: str = "win"
    max_rounds: int = 0
    pairs: str = ""
    sides: str = ""

    def __post_init__(self) -> None:
        require_range("players", self.players, 2, 4)
        require_bool("face_up", self.face_up)
        require_bool("reemission", self.reemission)
        require_range("copies", self.copies, 1, 2)
        require_range("hand", self.hand, 1, 5)
        require_choice("utility", self.utility, ("win", "points"))
        require_range("max_rounds", self.max_rounds, 0, 15)
        _require_listed("pairs", self.pairs, PAIRS)
        _require_listed("sides", self.sides, SIDES)
        self._require_cards()
        self._require_areas()

    def _require_cards(self) -> None:
        least = self.hand if self.max_rounds == 1 else self.hand + 1
        if self.deck < least:
            raise ValueError(
                f"parameters 'pairs' and 'copies' make decks of {self.deck} cards; with "
                f"hand={self.hand} and max_rounds={self.max_rounds} at least {least} are needed"
            )

    def _require_areas(self) -> None:
        needed = self.players * self.most_plays + self.blockers
        areas = self.nucleons * len(self.listed_sides)
        if areas < needed:
            raise ValueError(
                f"parameter 'sides' leaves {areas} areas; {self.players} players with "
                f"hand={self.hand} need {needed}"
            )

    @property
    def listed_pairs(self) -> tuple[str, ...]:
        """The pairs in the decks."""
        return _listed(self.pairs) or PAIRS

    @property
    def listed_sides(self) -> tuple[str, ...]:
        """The areas of each nucleon."""
        return _listed(self.sides) or SIDES

    @property
    def nucleons(self) -> int:
        """How many nucleons there are."""
        return 1 if self.players == 2 else 2

    @property
    def deck(self) -> int:
        """How many cards a deck has."""
        return self.copies * len(self.listed_pairs)

    @property
    def blockers(self) -> int:
        """How many areas are blocked in each round."""
        return 3 if self.players == 3 else 0

    @property
    def most_plays(self) -> int:
        """The most gluons that a player plays in a round."""
        return min(_MOST_PLAYS, self.hand)

    @property
    def most_rounds(self) -> int:
        """The most rounds: the hands are kept as full as can be, and the decks run out late."""
        unlimited = self.deck - self.hand + 1
        return min(self.max_rounds, unlimited) if self.max_rounds else unlimited

    @property
    def most_played(self) -> int:
        """The most cards that a player plays in a game."""
        return min(self.most_drawn, self.most_plays * self.most_rounds)

    @property
    def most_drawn(self) -> int:
        """The most cards that a player draws in a game."""
        return min(self.deck, self.hand + _DRAWS * (self.most_rounds - 1))


def _listed(told: str) -> tuple[str, ...]:
    return tuple(told.removesuffix("/").split("-")) if told else ()


def _require_listed(name: str, told: object, known: tuple[str, ...]) -> None:
    require_string(name, told)
    listed = _listed(str(told))
    for item in listed:
        if item not in known:
            raise ValueError(
                f"parameter {name!r} lists {item!r}; expected some of {', '.join(known)}, "
                f"joined by '-', not {told!r}"
            )
    if len(set(listed)) < len(listed):
        raise ValueError(f"parameter {name!r} lists something twice: {told!r}")
