"""Particles: the parameters."""

from dataclasses import dataclass

from cardcommons.treaty import require_bool, require_string


@dataclass(frozen=True)
class ParticlesParams:
    """What a game of Particles can be told.

    Attributes:
        tutorial: no abilities and no passing; who can't place loses.
        torus: both directions of the field wrap around.
        position: a position string to start from; empty for the usual start.
    """

    tutorial: bool = False
    torus: bool = False
    position: str = ""

    def __post_init__(self) -> None:
        require_bool("tutorial", self.tutorial)
        require_bool("torus", self.torus)
        require_string("position", self.position)
