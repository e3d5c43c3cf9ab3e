"""The table of contents: one line a game."""

from cardcommons.games import particles
from cardcommons.treaty import Family

FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        particles.GAME,
    )
}  # fmt: skip
