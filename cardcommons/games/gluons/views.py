"""Gluons: who knows what.

All see the quarks, the areas and whose gluons lie there, those face up, tokens, points, how many
cards each player holds and has to come, and every card once it is played face up, activated or
discarded.  A player's hand and the gluons they laid face down are theirs alone.  Nobody sees the
others draw: what is public is told as if draws that are due had been made.
"""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from cardcommons.games.gluons.params import PAIRS
from cardcommons.games.gluons.rules import (
    FINAL,
    HANDS,
    META,
    NUM_AREAS,
    NUM_PAIRS,
    apply,
    chance,
    deck_size,
    first_player,
    hand_size,
    has_passed,
    holder,
    phase,
    played,
    played_face_up,
    points,
    shown,
    shown_pair,
    to_move,
    tokens_locked,
    tokens_taken,
)
from cardcommons.games.gluons.text import (
    AREAS,
    COLOURS,
    Spot,
    counts,
    listed,
    players,
    public_field,
    quarks,
    spots,
    turn,
)
from cardcommons.treaty import CHANCE, TensorSpec, Words

_SEATS = 4

tensors = (
    TensorSpec("quarks", (2, 3, 3)),
    TensorSpec("owners", (_SEATS, NUM_AREAS)),
    TensorSpec("blocked", (NUM_AREAS,)),
    TensorSpec("face_down", (NUM_AREAS,)),
    TensorSpec("face_up", (NUM_PAIRS, NUM_AREAS)),
    TensorSpec("shown", (_SEATS, NUM_PAIRS)),
    TensorSpec("points", (_SEATS,)),
    TensorSpec("hand_sizes", (_SEATS,)),
    TensorSpec("deck_sizes", (_SEATS,)),
    TensorSpec("tokens", (_SEATS, _SEATS)),
    TensorSpec("locked", (_SEATS,)),
    TensorSpec("passed", (_SEATS,)),
    TensorSpec("played", (_SEATS, 2)),
    TensorSpec("first", (_SEATS,)),
    TensorSpec("next", (_SEATS,)),
    TensorSpec("phase", (3,)),
    TensorSpec("final_round", (1,)),
    TensorSpec("hand", (NUM_PAIRS,), private=True),
    TensorSpec("own_face_down", (NUM_PAIRS, NUM_AREAS), private=True),
)
"""Players stand in the first axis, of four seats whoever plays; areas are A12, A13, A21, ... B32
and pairs RG, RB, GR, GB, BR, BG.  ``quarks`` is indexed [nucleon, vertex, colour], ``tokens``
[token, player]; ``shown`` counts a player's cards that all have seen; ``played`` has the number of
gluons played in this round, and whether one was face up."""


def _after_draws(words: Words) -> Words:
    """The state once the draws that are due are made; what is drawn makes no public difference."""
    settled = words.copy()
    out, weight = np.zeros(NUM_PAIRS, dtype=np.int64), np.zeros(NUM_PAIRS, dtype=np.int64)
    with np.errstate(over="ignore"):
        while to_move(settled) == CHANCE:
            chance(settled, out, weight)
            apply(settled, int(out[0]))
    return settled


def _write_field(words: Words, into: Mapping[str, npt.NDArray[np.float32]]) -> None:
    for nucleon, colours in enumerate(quarks(words)):
        for vertex, colour in enumerate(colours):
            into["quarks"][nucleon, vertex, COLOURS.index(colour)] = 1
    for spot in spots(words):
        area = AREAS.index(spot.area)
        if spot.owner >= 0:
            into["owners"][spot.owner, area] = 1
        into["blocked"][area] = spot.blocked
        into["face_down"][area] = spot.down
        if spot.pair and not spot.down:
            into["face_up"][PAIRS.index(spot.pair), area] = 1


def _write_players(words: Words, into: Mapping[str, npt.NDArray[np.float32]]) -> None:
    meta = words[META]
    for player in range(players(words)):
        into["points"][player] = points(words, player)
        into["hand_sizes"][player] = hand_size(words, player)
        into["deck_sizes"][player] = deck_size(words, player)
        into["passed"][player] = has_passed(meta, player)
        into["played"][player] = played(meta, player), played_face_up(meta, player)
        for index in range(shown(words, player)):
            into["shown"][player, int(shown_pair(words, player, index))] += 1


def _write_turn(words: Words, into: Mapping[str, npt.NDArray[np.float32]]) -> None:
    meta = words[META]
    for token in range(tokens_taken(meta)):
        into["tokens"][token, int(holder(meta, token))] = 1
        into["locked"][token] = token < tokens_locked(meta)
    into["first"][int(first_player(meta))] = 1
    into["final_round"][0] = bool(int(meta) & int(FINAL))
    player = to_move(words)
    if player >= 0:
        into["next"][player] = 1
        into["phase"][int(phase(meta))] = 1


def _own_face_down(words: Words, player: int) -> list[Spot]:
    return [spot for spot in spots(words) if spot.owner == player and spot.down]


def write(words: Words, player: int, into: Mapping[str, npt.NDArray[np.float32]]) -> None:
    """Fill those of ``tensors`` that are named in ``into``: all public ones, or none of them."""
    if "quarks" in into:
        settled = _after_draws(words)
        _write_field(settled, into)
        _write_players(settled, into)
        _write_turn(settled, into)
    if "hand" in into:
        into["hand"][:] = counts(words[HANDS], player)
    if "own_face_down" in into:
        for spot in _own_face_down(words, player):
            into["own_face_down"][PAIRS.index(spot.pair), AREAS.index(spot.area)] = 1


def _public_string(words: Words) -> str:
    each = [
        f"{p}:{int(points(words, p))},{int(hand_size(words, p))},{int(deck_size(words, p))},"
        f"{_seen_cards(words, p)},{_plays(words, p)}"
        for p in range(players(words))
    ]
    return f"{public_field(words, -1)} {' '.join(each)} {turn(words)}"


def _seen_cards(words: Words, player: int) -> str:
    """The cards of a player that all have seen."""
    cards = [0] * NUM_PAIRS
    for index in range(shown(words, player)):
        cards[int(shown_pair(words, player, index))] += 1
    return listed(cards)


def _plays(words: Words, player: int) -> str:
    """What a player has done in the planning phase: ``2^`` is two gluons, one face up."""
    meta = words[META]
    if has_passed(meta, player):
        return "passed"
    return f"{int(played(meta, player))}{'^' if played_face_up(meta, player) else ''}"


def string(words: Words, player: int, *, public: bool, private: bool) -> str:
    """The field, each player's points, cards and plays, the turn; own hand and hidden gluons."""
    parts = []
    if public:
        parts.append(_public_string(_after_draws(words)))
    if private:
        hidden = [f"{spot.area}:{spot.pair}" for spot in _own_face_down(words, player)]
        parts.append(" ".join([f"hand {listed(counts(words[HANDS], player))}", *hidden]))
    return " ".join(parts)
