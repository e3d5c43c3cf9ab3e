"""Rally: the parameters."""

import re
from dataclasses import dataclass
from typing import NamedTuple

from cardcommons.treaty import require_choice, require_number, require_range, require_string

_STAGE = re.compile("-".join(["(0|[1-9][0-9]*)"] * 4))
_MOST_JOKERS = 65535
_MOST_STAGES = 65535


class Stage(NamedTuple):
    """What a stage is laid out from."""

    first: int
    second: int
    third: int
    boosts: int

    @property
    def sectors(self) -> tuple[int, int, int]:
        """How many sectors are of the 1st, 2nd and 3rd gear."""
        return (self.first, self.second, self.third)


_MOST = Stage(12, 12, 16, 4)


@dataclass(frozen=True)
class RallyParams:
    """What a rally can be told.

    Attributes:
        stages: for each stage the sectors from 1st, 2nd and 3rd gear and the number of Boosts,
            which is also that of Brakes, as ``2-4-8-4/2-4-6-3/2-3-5-2``.  A ``/`` may end the list:
            OpenSpiel's parameter strings take ``1-1-0-1`` for a number, but not ``1-1-0-1/``.
        jokers: how many busts are survived, 0 to 65535.
        utility: ``"score"``, with ``loss_utility`` for a rally that is not finished; or
            ``"win"``, which is 1 for a rally finished with a score of 1 or more, else 0.
        loss_utility: any finite number.
    """

    stages: str = "2-4-8-4/2-4-6-3/2-3-5-2"
    jokers: int = 2
    utility: str = "score"
    loss_utility: float = -16.0

    def __post_init__(self) -> None:
        require_string("stages", self.stages)
        require_range("jokers", self.jokers, 0, _MOST_JOKERS)
        require_choice("utility", self.utility, ("score", "win"))
        require_number("loss_utility", self.loss_utility)
        object.__setattr__(self, "loss_utility", float(self.loss_utility))
        if len(self.layout) > _MOST_STAGES:
            raise ValueError(f"parameter 'stages' may have at most {_MOST_STAGES} stages")

    @property
    def layout(self) -> tuple[Stage, ...]:
        """The stages, read; ``ValueError`` says what is wrong with one."""
        return tuple(_read_stage(told) for told in self.stages.removesuffix("/").split("/"))


def _read_stage(told: str) -> Stage:
    match = _STAGE.fullmatch(told)
    if not match:
        raise ValueError(
            f"parameter 'stages' has a stage {told!r}; one reads 2-4-8-4: the sectors from 1st, "
            "2nd and 3rd gear, and the Boosts; stages are separated by '/'"
        )
    stage = Stage(*map(int, match.groups()))
    if any(count > most for count, most in zip(stage, _MOST, strict=True)):
        raise ValueError(
            f"parameter 'stages' has a stage {told!r}; the most are 12, 12 and 16 sectors and 4 "
            "Boosts"
        )
    if sum(stage.sectors) == 0:
        raise ValueError(f"parameter 'stages' has a stage {told!r} without a sector")
    return stage
