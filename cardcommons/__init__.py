"""Card games for research in games and search.

``load("particles", tutorial=True)`` gives a game, and ``State(game)`` a position of it; importing
the package also registers each game with OpenSpiel under the name ``cardcommons_<name>``.
"""

from cardcommons import openspiel, perft, playout
from cardcommons.catalogue import GAMES, load, parse_game
from cardcommons.state import State
from cardcommons.treaty import CHANCE, TERMINAL, Game

__version__ = "0.1.0"
__all__ = [
    "CHANCE",
    "GAMES",
    "TERMINAL",
    "Game",
    "State",
    "load",
    "openspiel",
    "parse_game",
    "perft",
    "playout",
]
