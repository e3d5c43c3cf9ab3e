"""The table of contents: one line a game."""

from cardcommons.games import gluons, particles, rally, treasure
from cardcommons.treaty import Family

FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        particles.GAME,
        treasure.GAME,
        rally.GAME,
        gluons.GAME,
    )
}  # fmt: skip
