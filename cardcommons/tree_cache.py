"""Unrolled trees kept on disk, under names that tell the game, its parameters and its code."""

import json
import os
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path

from cardcommons.arrayfile import read_arrays, write_arrays
from cardcommons.compiled import fingerprint
from cardcommons.treaty import Game
from cardcommons.tree import GameTree, InfoSets, Nodes

_FORMAT = 1
_SET = "info_set_"


def default_folder() -> Path:
    """``$CARDCOMMONS_CACHE``, or else ``cardcommons`` in the user's cache folder."""
    chosen = os.environ.get("CARDCOMMONS_CACHE")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "cardcommons"


def identity(game: Game) -> str:
    """All that decides what the tree of a game is: parameters, start, and the rules' code."""
    rules = game.rules
    verbs = (rules.to_move, rules.legal, rules.chance, rules.apply, rules.payoff, rules.info_key)
    return json.dumps(
        [
            game.name,
            game.parameters,
            rules.num_players,
            [int(word) for word in game.start],
            [fingerprint(verb) for verb in verbs],
        ]
    )


def kept(identity: str, build: Callable[[], GameTree], folder: Path | None = None) -> GameTree:
    """The tree of a game, read from disk if it is there, or else built and written there.

    Args:
        identity: all that decides what the tree is; part of the file's name, as a hash.
        build: makes the tree.
        folder: where trees are kept; by default :func:`default_folder`.

    A file that is damaged is made anew.
    """
    digest = blake2b(f"{_FORMAT} {identity}".encode(), digest_size=16).hexdigest()
    path = (folder or default_folder()) / "trees" / f"{digest}.npz"
    if path.exists():
        try:
            return read_tree(path)
        except ValueError:
            pass
    tree = build()
    write_tree(tree, path)
    return tree


def write_tree(tree: GameTree, path: Path) -> None:
    """Write a tree to a file."""
    sets = {_SET + name: array for name, array in tree.info_sets._asdict().items()}
    told = {"game": tree.game, "labels": tree.labels}
    write_arrays(path, told, tree.nodes._asdict() | sets)


def read_tree(path: Path) -> GameTree:
    """Read a tree; ``ValueError`` if the file is damaged."""
    told, arrays = read_arrays(path)
    try:
        nodes = Nodes(*(arrays[name] for name in Nodes._fields))
        info_sets = InfoSets(*(arrays[_SET + name] for name in InfoSets._fields))
        labels = tuple(told["labels"])
        return GameTree(told["game"], nodes.utility.shape[1], nodes, info_sets, labels)
    except (KeyError, IndexError) as error:
        raise ValueError(f"{path} holds no tree: {error} is missing") from None
