"""What is special about a move: to see that random games reach the rare corners of the rules."""

from cardcommons import TERMINAL
from tests.twins.particles import (
    CORNERS,
    DIRECTIONS,
    SIDES,
    Twin,
    compass,
    diagonals,
    neighbours,
    parse_card,
    step,
)


def situations(twin: Twin, action: str) -> set[str]:
    """Names of what a legal action does that deserves to be tested."""
    if action == "pass":
        return {"pass"} | ({"second pass"} if twin.passes else set())
    if action.startswith("repel:"):
        return _slide(twin, action[-1])
    if action.startswith("polarize:"):
        return _turn(twin, action.removeprefix("polarize:"))
    if action == "decline":
        return {f"decline {twin.choices[0].kind}"}
    if action.startswith("-"):
        return {f"discard then {twin.choices[1].kind}"} if len(twin.choices) > 1 else {"discard"}
    return _placement(twin, action)


def ending(twin: Twin) -> set[str]:
    """What decided a finished game."""
    assert twin.player == TERMINAL
    if twin.tutorial:
        return {"stuck with cards" if twin.hands[twin.turn] else "stuck without cards"}
    taken = [SIDES[player] & twin.piles.keys() for player in (0, 1)]
    cards = [sum(len(twin.piles[cell].cards) for cell in cells) for cells in taken]
    if len(taken[0]) != len(taken[1]):
        return {"decided by open cells"}
    return {"decided by cards" if cards[0] != cards[1] else "decided by the opener"}


def _across(cell: str, near: str) -> bool:
    return near not in neighbours(cell, torus=False)


def _slide(twin: Twin, way: str) -> set[str]:
    near = step(twin.choices[0].cell, DIRECTIONS[way], twin.torus)
    assert near is not None
    far = step(near, DIRECTIONS[way], twin.torus)
    assert far is not None
    pile = twin.piles[near]
    found = {"slide"}
    if pile.covered:
        found.add("slide of a stack")
    if pile.face_down:
        found.add("slide of a face-down stack" if pile.covered else "slide of a face-down card")
    if _across(near, far):
        found.add("slide across an edge")
    if _across(twin.choices[0].cell, near):
        found.add("slide from across an edge")
    return found


def _turn(twin: Twin, way: str) -> set[str]:
    here = twin.choices[0].cell
    cell = here if way == "self" else compass(here, twin.torus)[way]
    found = {"turn itself" if way == "self" else "turn a neighbour"}
    if twin.piles[cell].covered:
        found.add("turn the top of a stack")
    if way != "self" and _across(here, cell):
        found.add("turn across an edge")
    return found


def _placement(twin: Twin, action: str) -> set[str]:
    card, cell = parse_card(action[:2]), action[-2:]
    if not twin.piles:
        return {"open"}
    found = {"channel"}
    if "x" in action:
        own = twin.piles[cell].top.suit in ("hs" if card.suit in "hs" else "dc")
        found = {"invert an own card" if own else "invert another's card"}
    near = neighbours(cell, twin.torus) & twin.piles.keys()
    if not near and "x" not in action:
        found.add("tunnel")
        if all(_far(cell, there) for there in diagonals(cell, twin.torus) & twin.piles.keys()):
            found.add("tunnel across an edge")
    if any(twin.piles[there].face_down for there in near):
        found.add("place beside a face-down card")
    if any(twin.piles[there].covered for there in near):
        found.add("place beside a stack")
    breaches = {there for there in near if not twin.piles[there].allows_beside(card)}
    if breaches:
        assert card.level == 4
        assert cell in CORNERS
        crossing = sum(_across(cell, there) for there in breaches)
        found.add(f"anchor against {len(breaches)}, {crossing} across an edge")
    if card.level == 3 and not twin.tutorial and not twin.apply(action).choices:
        found.add("three with nothing to slide")
    return found


def _far(cell: str, other: str) -> bool:
    return other not in diagonals(cell, torus=False)


ALWAYS = {
    "open",
    "channel",
    "invert an own card",
    "invert another's card",
    "discard",
    "place beside a stack",
}
TUTORIAL = ALWAYS | {"stuck with cards"}
STANDARD = ALWAYS | {
    "pass",
    "second pass",
    "discard then repel",
    "discard then polarize",
    "decline repel",
    "decline polarize",
    "slide",
    "slide of a stack",
    "slide of a face-down card",
    "slide of a face-down stack",
    "turn itself",
    "turn a neighbour",
    "turn the top of a stack",
    "tunnel",
    "place beside a face-down card",
    "three with nothing to slide",
    "anchor against 1, 0 across an edge",
    "decided by open cells",
    "decided by cards",
    "decided by the opener",
}
ON_TORUS = STANDARD | {
    "slide across an edge",
    "slide from across an edge",
    "turn across an edge",
    "tunnel across an edge",
    "anchor against 1, 1 across an edge",
    "anchor against 2, 1 across an edge",
}


def expected(tutorial: bool, torus: bool) -> set[str]:
    """What a variant's random games must have come across to count as a test."""
    if tutorial:
        return TUTORIAL
    return ON_TORUS if torus else STANDARD
