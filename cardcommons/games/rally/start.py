"""Rally: the start of a game, laid out from its parameters."""

import numpy as np

from cardcommons.games.rally import rules
from cardcommons.games.rally.params import RallyParams
from cardcommons.treaty import Words


def start_words(params: RallyParams) -> Words:
    """The words of the initial state; to be copied before they are changed."""
    layout = params.layout
    # Room for a zero after the last stage, which ends the list.
    words = np.zeros(rules.STAGES + len(layout) // rules.STAGES_A_WORD + 1, dtype=np.uint64)
    for index, stage in enumerate(layout):
        told = stage.first | stage.second << 5 | stage.third << 10 | stage.boosts << 15
        shift = rules.STAGE_BITS * (index % rules.STAGES_A_WORD)
        words[rules.STAGES + index // rules.STAGES_A_WORD] |= np.uint64(told << shift)
    words[rules.UNSEEN] = params.jokers << int(rules.JOKERS_SHIFT)
    words[rules.META] = int(rules.WIN) if params.utility == "win" else 0
    words[rules.LOSS] = np.float64(params.loss_utility).view(np.uint64)
    rules.lay_out_stage(words, 0)
    return words
