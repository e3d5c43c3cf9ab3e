"""What is special about an action: to see that random games reach the rare corners of the rules."""

from collections.abc import Iterator

from tests.twins.gluons import ACTIVATION, BLOCKING, CHANCE, TERMINAL, Twin


def situations(twin: Twin, action: str) -> set[str]:
    """Names of what a legal action does, or could have done, that deserves to be tested."""
    if twin.player == CHANCE:
        return set(_draw(twin))
    found = set(_round(twin))
    if twin.phase == BLOCKING:
        return found | {f"blocker on nucleon {action[6]}"}
    if twin.phase == ACTIVATION:
        return found | set(_activation(twin, action))
    planned = set(_pass(twin)) if action == "pass" else set(_play(twin, action))
    return found | planned | set(_duty(twin)) | set(_turn(twin, action))


def ending(twin: Twin) -> set[str]:
    """What decided a finished game, and why it ended."""
    assert twin.player == TERMINAL
    found = {_decided_by(twin)} if twin.parameters.utility == "win" else set()
    found.add("ends with a deck" if not all(twin.decks) else "ends by the number of rounds")
    if twin.round == twin.parameters.max_rounds and not all(twin.decks):
        found.add("ends for both reasons")
    if twin.parameters.utility == "points" and not any(twin.returns()):
        found.add("equal points")
    return found


def _decided_by(twin: Twin) -> str:
    tied = [*range(twin.parameters.players)]
    merits: dict[str, list[int]] = {
        "points": [len(kept) for kept in twin.kept],
        "empty deck": [int(not deck) for deck in twin.decks],
        "hand": [len(hand) for hand in twin.hands],
    }
    for name, merit in merits.items():
        best = max(merit[player] for player in tied)
        tied = [player for player in tied if merit[player] == best]
        if len(tied) == 1:
            return f"decided by {name}"
    behind = twin.seats.index(twin.winner())
    return f"decided by the seat, {behind} behind, among {len(tied)}"


def _draw(twin: Twin) -> Iterator[str]:
    who = twin.drawer
    if not twin.events or not twin.kept[who] + twin.discards[who]:
        return
    room = twin.parameters.hand - len(twin.hands[who])
    if twin.pending[who] == 2:
        yield "draws two, the hand stays short" if room > 2 else "draws two, the hand gets full"
    if twin.pending[who] == 1 and room > 1 and len(twin.decks[who]) == 1:
        yield "the last card of a deck, alone or after another"
    if twin.pending[who] < len(twin.decks[who]) and room == 1:
        yield "the hand limit stops drawing"


def _round(twin: Twin) -> Iterator[str]:
    if twin.round >= 6:
        yield f"round {twin.round}"
    yield f"first player {twin.first} of {twin.parameters.players}"
    if twin.is_final:
        yield "final round by a deck" if not all(twin.decks) else "final round by number"


def _duty(twin: Twin) -> Iterator[str]:
    """Why no gluon may be played face down though there are some to be played."""
    played, hand = twin.gluons(twin.turn), twin.hands[twin.turn]
    if twin.parameters.face_up or any(gluon.face_up for gluon in played.values()):
        return
    if len(played) == 2 and len(hand) > 1:
        yield "the third gluon must be face up"
    if len(hand) == 1 and len(played) < 2:
        yield "the last card must be face up"
    if len(hand) == 1 and len(played) == 2:
        yield "the third gluon and last card must be face up"


def _play(twin: Twin, action: str) -> Iterator[str]:
    number = len(twin.gluons(twin.turn)) + 1
    yield f"gluon {number} face {'up' if action[2] == '@' else 'down'}"
    if len(twin.empty_areas) == 1:
        yield f"all areas are full, {twin.parameters.players} players"


def _pass(twin: Twin) -> Iterator[str]:
    played = len(twin.gluons(twin.turn))
    if len(twin.legal()) > 1:
        yield f"passes after {played}"
    elif played < 3:
        yield "passes with no card left"
    else:
        yield "passes after the third"
    after = twin.apply("pass")
    moved = sum(after.tokens[n] != who for n, who in twin.tokens.items())
    last = len(twin.tokens) == twin.parameters.players - 1
    yield f"a token moves {moved} others" + ", the last one to pass" * last
    if twin.locked:
        yield f"behind {len(twin.locked)} locked, a token moves {moved} others"


def _turn(twin: Twin, action: str) -> Iterator[str]:
    """How the turn comes round to the first player."""
    after = twin.apply(action)
    if after.locked > twin.locked and after.phase == twin.phase:
        gone = "gone on" if twin.first in after.passed else "to act"
        yield f"{len(after.locked) - len(twin.locked)} get locked, the first player {gone}"
    if after.phase == ACTIVATION and not twin.locked:
        yield "all pass before any token is locked"


def _activation(twin: Twin, action: str) -> Iterator[str]:
    area, gluon = action[1:4], twin.areas[action[1:4]]
    valid = gluon.pair == twin.emitting(area) + twin.receiving(area)
    after = twin.apply(action)
    face = "face-up" if gluon.face_up else "face-down"
    yield from _reemission(twin, action)
    if "+" not in action:
        yield f"{face} gluon on {area[0]} is {'valid' if valid else 'invalid'}"
    if not valid and gluon.pair[0] == twin.emitting(area) and "+" not in action:
        yield "the anticolour alone is wrong"
    if not valid and gluon.pair[1] == twin.receiving(area):
        yield "the colour alone is wrong"
    yield from _consequences(twin, after)
    if after.phase == ACTIVATION:
        yield from _skipping(twin, after)


def _reemission(twin: Twin, action: str) -> Iterator[str]:
    offered = [option for option in twin.legal() if "+" in option]
    if "+" in action:
        yield "reemission"
        if len(twin.hands[twin.turn]) == 1:
            yield "reemission of the last card"
        if not twin.areas[action[1:4]].face_up:
            yield "reemission for a face-down gluon"
        if twin.is_final:
            yield "reemission in the final round"
    elif f"{action}+" in "".join(option[:5] for option in offered):
        yield "reemission declined"
    if len(offered) > 1:
        yield "several reemissions are offered"


def _consequences(twin: Twin, after: Twin) -> Iterator[str]:
    """What swapped quarks do to the gluons that still lie there."""
    for area, gluon in after.areas.items():
        was, now = (
            gluon.pair == each.emitting(area) + each.receiving(area) for each in (twin, after)
        )
        if was != now:
            yield f"a swap makes a gluon {'valid' if now else 'invalid'}"


def _skipping(twin: Twin, after: Twin) -> Iterator[str]:
    steps = (twin.order.index(after.turn) - twin.order.index(twin.turn)) % len(twin.order)
    if steps == 0:
        yield "the others have nothing left"
    elif steps > 1:
        yield f"{steps - 1} are skipped"


EXPECTED = {
    *(f"round {number}" for number in (6, 7, 8)),
    *(f"first player {player} of {players}" for players in (2, 3, 4) for player in range(players)),
    *("final round by a deck", "final round by number"),
    *("ends with a deck", "ends by the number of rounds", "ends for both reasons"),
    *("decided by points", "decided by empty deck", "decided by hand", "equal points"),
    "decided by the seat, 0 behind, among 2",
    "decided by the seat, 0 behind, among 3",
    "decided by the seat, 1 behind, among 2",
    "decided by the seat, 2 behind, among 2",
    *("draws two, the hand stays short", "draws two, the hand gets full"),
    *("the last card of a deck, alone or after another", "the hand limit stops drawing"),
    *("blocker on nucleon A", "blocker on nucleon B"),
    *("the third gluon must be face up", "the last card must be face up"),
    "the third gluon and last card must be face up",
    *(f"gluon {number} face {way}" for number in (1, 2, 3) for way in ("up", "down")),
    *(f"all areas are full, {players} players" for players in (2, 3, 4)),
    *("passes after 1", "passes after 2", "passes after the third", "passes with no card left"),
    *(f"a token moves {moved} others" for moved in range(3)),
    *(f"a token moves {moved} others, the last one to pass" for moved in range(4)),
    *(f"behind 1 locked, a token moves {moved} others" for moved in range(3)),
    *(f"behind 2 locked, a token moves {moved} others" for moved in range(2)),
    "behind 3 locked, a token moves 0 others",
    *(f"{number} get locked, the first player to act" for number in (1, 2, 3)),
    *(f"{number} get locked, the first player gone on" for number in (1, 2, 3)),
    "all pass before any token is locked",
    *(
        f"face-{face} gluon on {nucleon} is {what}"
        for face in ("up", "down")
        for nucleon in "AB"
        for what in ("valid", "invalid")
    ),
    *("the anticolour alone is wrong", "the colour alone is wrong"),
    *("a swap makes a gluon valid", "a swap makes a gluon invalid"),
    *("the others have nothing left", "1 are skipped", "2 are skipped"),
    *("reemission", "reemission declined", "several reemissions are offered"),
    *("reemission of the last card", "reemission for a face-down gluon"),
    "reemission in the final round",
}
"""To be met in all sets of parameters together."""
