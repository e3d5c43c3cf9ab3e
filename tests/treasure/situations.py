"""What is special about an action: to see that random games reach the rare corners of the rules."""

from collections.abc import Iterator

from tests.twins.treasure import CHANCE, COLUMNS, TERMINAL, TREASURE, Twin, beside, is_higher


def situations(twin: Twin, action: str) -> set[str]:
    """Names of what a legal action does, or could have done, that deserves to be tested."""
    if twin.player == CHANCE:
        return set(_draw(twin))
    found = set(_first_cards(twin, action)) | set(_columns(twin)) | set(_cut_off(twin))
    if action.startswith("-"):
        return found | set(_discard(twin))
    return found | set(_play(twin, action))


def ending(twin: Twin) -> set[str]:
    """What decided a finished game, and how it was played as a whole."""
    assert twin.player == TERMINAL
    found = {_decided_by(twin)}
    if not twin.piles:
        found.add("nothing was played")
    elif any(twin.owes_first):
        found.add("one player never played")
    return found


def _decided_by(twin: Twin) -> str:
    lead = twin.points(0) - twin.points(1)
    if lead or twin.parameters.utility == "margin":
        return "points" if lead else "no margin"
    loose = len(twin.unconnected(0)) - len(twin.unconnected(1))
    if loose == 0:
        return "tie"
    return "fewer cut off, for player 0" if loose < 0 else "fewer cut off, for player 1"


def _draw(twin: Twin) -> Iterator[str]:
    begins = not twin.hands[twin.drawer]
    if begins and twin.pending[twin.drawer] < twin.parameters.hand:
        yield "short refill" if twin.events else "short first hand"
    if any(twin.owes_first) and twin.piles and begins:
        yield "refill while one owes the first card"


def _first_cards(twin: Twin, action: str) -> Iterator[str]:
    me, home = twin.turn, "e" + twin.parameters.home(twin.turn)
    if not twin.owes_first[me]:
        return
    if all(twin.owes_first) and len(twin.events) > len(twin.hands[0] + twin.hands[1]):
        yield "both owe the first card after a discard"
    if twin.top(home):
        yield "owes the first card, e is taken"
        if all(option.startswith("-") for option in twin.legal()):
            yield "first card is blocked"
        if "@" in action:
            yield "first card covers"


def _columns(twin: Twin) -> Iterator[str]:
    columns, most = twin.columns_in_play, twin.parameters.columns
    new = {option[2] for option in twin.legal() if "@" in option} - columns
    if columns and len(new) == 2:
        yield "both ends are open"
    if len(columns) == most > 1 and _beyond(twin):
        yield f"{most} columns are fixed"
    if new and len(columns) == most - 1:
        yield "room for one column more"


def _beyond(twin: Twin) -> bool:
    """Whether a connected card lies beside a column that may not come into play."""
    near = {cell[0] for card in twin.connected(twin.turn) for cell in beside(card, 5)}
    return bool(near - twin.columns_in_play)


def _cut_off(twin: Twin) -> Iterator[str]:
    me = twin.turn
    loose, joined = twin.unconnected(me), twin.connected(me)
    if not loose:
        return
    yield "cards are cut off"
    if not joined:
        yield "nothing is connected"
    assert not loose & twin.reachable(me)
    if any(_could_cover(twin, cell) for cell in loose):
        yield "a cut-off card can't be covered"


def _could_cover(twin: Twin, cell: str) -> bool:
    top = twin.top(cell)
    return top is not None and any(is_higher(rank, top.rank) for rank in twin.hands[twin.turn])


def _discard(twin: Twin) -> Iterator[str]:
    yield "forced discard" if len(twin.legal()) == 1 else "discard"
    if any("@" in option for option in twin.legal()):
        yield "discard by choice"


def _play(twin: Twin, action: str) -> Iterator[str]:
    me, rank, cell = twin.turn, action[0], action[2:]
    yield from _covering(twin, rank, cell)
    after = twin.apply(action)
    if twin.unconnected(me) & after.connected(me):
        yield "connection is recovered"
    if after.unconnected(1 - me) - twin.unconnected(1 - me):
        yield "the other player is cut off"
    far = cell[1] != twin.parameters.home(me)
    if far and twin.piles and cell[0] not in twin.columns_in_play:
        yield f"column opened {'west' if cell[0] < min(twin.columns_in_play) else 'east'}, far up"
    if not far and not twin.owes_first[me] and _by_column_alone(twin, cell):
        yield "home space opened by a card far up"
    if cell[0] in (COLUMNS[0], COLUMNS[-1]):
        yield "outermost of the nine columns"


def _by_column_alone(twin: Twin, cell: str) -> bool:
    """Whether a home space is open for no other reason than that its column holds a card."""
    near = beside(cell, twin.parameters.rows) | {cell}
    return not near & twin.connected(twin.turn)


def _covering(twin: Twin, rank: str, cell: str) -> Iterator[str]:
    top = twin.top(cell)
    if top is None:
        yield "Treasure is played" if rank == TREASURE else "empty space"
        return
    own = top.owner == twin.turn
    yield "own card covered" if own else "other's card covered"
    if top.rank == TREASURE:
        yield "own Treasure covered" if own else "Treasure captured"
        if rank == "2":
            yield "Treasure covered by a 2"
    if len(twin.piles[cell]) > 1:
        yield "third card on a space"


EXPECTED = {
    "discard by choice",
    "empty space",
    "points",
    "nothing was played",
    "one player never played",
    "both owe the first card after a discard",
    "owes the first card, e is taken",
    "first card is blocked",
    "first card covers",
    "refill while one owes the first card",
    "other's card covered",
    "both ends are open",
    "room for one column more",
    "5 columns are fixed",
    "cards are cut off",
    "nothing is connected",
    "a cut-off card can't be covered",
    "forced discard",
    "connection is recovered",
    "the other player is cut off",
    "column opened west, far up",
    "column opened east, far up",
    "home space opened by a card far up",
    "outermost of the nine columns",
    "own card covered",
    "Treasure is played",
    "own Treasure covered",
    "Treasure captured",
    "Treasure covered by a 2",
    "third card on a space",
    "short refill",
    "fewer cut off, for player 0",
    "fewer cut off, for player 1",
    "tie",
    "no margin",
    "3 columns are fixed",
    "4 columns are fixed",
    "2 columns are fixed",
}
"""To be met in all sets of parameters together."""
