"""Observations: named planes, the same for both players."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
from hypothesis import given

from cardcommons import State
from tests.particles.walks import STANDARD, TUTORIAL, Pair, pairs

Blocks = Mapping[str, npt.NDArray[np.float32]]

SHAPES = {
    "red": (6, 4, 4),
    "black": (6, 4, 4),
    "face_down": (4, 4),
    "stacked": (4, 4),
    "pending_cell": (4, 4),
    "hands": (2, 2, 6),
    "to_move": (2,),
    "passes": (3,),
    "phase": (5,),
}


def observe(state: State, player: int) -> Blocks:
    """The observation of a player."""
    views = state.game.views
    blocks = {spec.name: np.zeros(spec.shape, dtype=np.float32) for spec in views.tensors}
    views.write(state.words, player, blocks)
    return blocks


def ones(block: npt.NDArray[np.float32]) -> list[tuple[int, ...]]:
    """Where a block of zeros and ones holds its ones."""
    assert set(np.unique(block)) <= {0.0, 1.0}
    return [tuple(map(int, at)) for at in np.argwhere(block)]


def test_blocks_have_their_names_and_shapes_and_are_public() -> None:
    for variant in (STANDARD, TUTORIAL):
        tensors = variant.game().views.tensors
        assert {spec.name: spec.shape for spec in tensors} == SHAPES
        assert not any(spec.private for spec in tensors)


def test_the_entries_of_a_known_position() -> None:
    state = State.from_string(STANDARD.game(), "6c.../.4s+4d.5h*+5c/..Ad./2h... Ah3h6s 2c 1 1")
    blocks = observe(state, 0)
    assert ones(blocks["red"]) == [(0, 1, 2), (1, 0, 0)]  # Ad on c2, 2h on a1
    assert ones(blocks["black"]) == [(3, 2, 1), (5, 3, 0)]  # 4s on b3, 6c on a4
    assert ones(blocks["face_down"]) == [(2, 3)]
    assert ones(blocks["stacked"]) == [(2, 1), (2, 3)]
    assert ones(blocks["hands"]) == [(0, 0, 0), (0, 0, 2), (0, 1, 5), (1, 1, 1)]
    assert ones(blocks["to_move"]) == [(1,)]
    assert ones(blocks["passes"]) == [(1,)]
    assert ones(blocks["phase"]) == [(0,)]
    assert ones(blocks["pending_cell"]) == []


def test_the_entries_in_the_middle_of_a_turn() -> None:
    state = State.from_string(STANDARD.game(), "..../.5d../..../.... 2h5s6s Ad 0 0")
    for action, phase, pending in (
        ("5sxb3", 1, [(2, 1)]),
        ("-6s", 3, [(2, 1)]),
        ("polarize:self", 0, []),
        ("pass", 0, []),
        ("2h@a2", 0, []),
    ):
        state.apply(action)
        blocks = observe(state, 0)
        assert ones(blocks["phase"]) == [(phase,)]
        assert ones(blocks["pending_cell"]) == pending


@given(pairs())
def test_both_players_see_the_same_and_all_of_it(pair: Pair) -> None:
    mine, theirs = (observe(pair.state, player) for player in (0, 1))
    assert all((mine[name] == theirs[name]).all() for name in SHAPES)
    taken = mine["red"].sum(axis=0) + mine["black"].sum(axis=0) + mine["face_down"]
    assert taken.max() <= 1
    assert int(taken.sum()) == len(pair.twin.piles)
    assert int(mine["hands"].sum()) == sum(map(len, pair.twin.hands))
    assert [mine[name].sum() for name in ("to_move", "passes", "phase")] == [1, 1, 1]


def test_the_string_is_the_position_and_public() -> None:
    state = State(STANDARD.game())
    state.apply("3h@b2")
    for player in (0, 1):
        views = state.game.views
        for private in (False, True):
            told = views.string(state.words, player, public=True, private=private)
            assert told == state.position
            assert views.string(state.words, player, public=False, private=private) == ""


def test_the_svg_shows_every_card() -> None:
    state = State.from_string(STANDARD.game(), "6c.../.4s+4d../..../.... AhAs - 0 0")
    drawn = state._repr_svg_()
    assert drawn.startswith("<svg ")
    assert drawn.endswith("</svg>")
    for name in ("6♣", "4♠", "4♦", "A♥", "A♠"):
        assert drawn.count(f">{name}") == 1
