"""Unrolled trees kept on disk, under names that tell the game, its parameters and its code."""

import os
from collections.abc import Callable
from pathlib import Path

from cardcommons.arrayfile import read_arrays, write_arrays
from cardcommons.identity import digest
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


def kept(
    known_by: str,
    build: Callable[[], GameTree],
    folder: Path | None = None,
    fits: Callable[[int], None] = lambda size: None,
) -> GameTree:
    """The tree of a game, read from disk if it is there, or else built and written there.

    Args:
        known_by: all that decides what the tree is, such as a game's
            :func:`~cardcommons.identity.rules_digest`.
        build: makes the tree.
        folder: where trees are kept; by default :func:`default_folder`.
        fits: is told how many bytes a tree that is there takes, before it is read, and raises an
            error if that is too much.

    A file that is damaged is made anew.
    """
    path = (folder or default_folder()) / "trees" / f"{digest(_FORMAT, known_by)}.npz"
    if path.exists():
        fits(path.stat().st_size)
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
