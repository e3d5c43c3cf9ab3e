"""Games in sequence form for the tests of solvers, each unrolled once a process."""

from functools import cache

import pyspiel

import cardcommons
from cardcommons import openspiel_tree
from cardcommons.openspiel import PREFIX
from cardcommons.sequence_form import SequenceForm, sequence_form
from cardcommons.tree import unroll

KUHN, LEDUC, LIARS = "kuhn_poker", "leduc_poker", "liars_dice"
SMALL_LIARS = "liars_dice(dice_sides=3)"
KUHN_FOR_THREE = "kuhn_poker(players=3)"
TREASURE = "treasure:rows=2,columns=2,ranks=2,copies=1,treasure=False,hand=1"

GLUONS = "gluons:copies=1,hand=1,max_rounds=2,pairs=RG-GR-RB,sides=12-21"


@cache
def openspiel_form(name: str) -> SequenceForm:
    """A game of OpenSpiel's."""
    return sequence_form(openspiel_tree.unroll(pyspiel.load_game(name)))


@cache
def native_form(spec: str) -> SequenceForm:
    """A game of the catalogue."""
    return sequence_form(unroll(cardcommons.parse_game(spec)))


def form_and_game(name: str) -> tuple[SequenceForm, pyspiel.Game]:
    """A game by the name it has here or there, and as OpenSpiel has it."""
    if ":" not in name:
        return openspiel_form(name), pyspiel.load_game(name)
    game = cardcommons.parse_game(name)
    return native_form(name), pyspiel.load_game(PREFIX + game.name, game.parameters)
