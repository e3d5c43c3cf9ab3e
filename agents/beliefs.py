"""What a searching player believes of what the others have hidden on the table.

A game's ``resample`` gives each deal that agrees with what was seen the same weight, whatever the
others play for.  Here a redraw also counts by how readily its owners would have hidden what it has
them hide.  That is known from the search before they did: of the simulations in which an action was
open to them, in how many was it chosen?  (To weigh deals by the likelihood of what was played is an
old idea in card games: Buro et al., "Improving state evaluation, inference, and search in
trick-based card games", IJCAI 2009.  There the likelihoods come from games played before.)

Redraws of such weights form a Markov chain, in which a new one takes the place of the last or is
dropped: Hastings, "Monte Carlo sampling methods using Markov chains and their applications",
Biometrika 57, 1970, with proposals that don't depend on where the chain is.
"""

from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt
from numba.extending import register_jitable

from cardcommons.rng import unit
from cardcommons.treaty import Kernel, Rules, copy_words

_PROPOSALS = 2
"""How many redraws the chain looks at in each simulation, for each hidden thing."""
_PRIOR = 0.1
"""An action's share before anything was counted, which weighs as much as ten chances to take it."""


class Beliefs(NamedTuple):
    """How the others choose, and what that makes of what they have hidden."""

    chosen: npt.NDArray[np.int64]
    """Shape ``(num_players, num_actions)``: in how many simulations of a search a player took an
    action before the searching player's next turn."""
    available: npt.NDArray[np.int64]
    """Likewise: in how many they could have."""
    credence: npt.NDArray[np.float64]
    """Shape ``(num_players, num_players, num_actions)``, first the player who searches: by what
    the weight of a redraw is multiplied if that is how something came to be hidden."""
    words: npt.NDArray[np.uint64]
    """Shape ``(num_words,)``: the last redraw of the chain."""
    weight: npt.NDArray[np.float64]
    """Shape ``(1,)``: its weight; 0 before the first."""
    hidden: npt.NDArray[np.int64]
    """Shape ``(1,)``: how many things the others have hidden now."""


def _without_preference(num_players: int, num_actions: int, num_words: int) -> Beliefs:
    shape = num_players, num_actions
    return Beliefs(
        chosen=np.zeros(shape, dtype=np.int64),
        available=np.zeros(shape, dtype=np.int64),
        credence=np.ones((num_players, *shape)),
        words=np.zeros(num_words, dtype=np.uint64),
        weight=np.zeros(1),
        hidden=np.zeros(1, dtype=np.int64),
    )


def make_beliefs(rules: Rules) -> Beliefs:
    """Without a preference."""
    return _without_preference(rules.num_players, rules.num_actions, rules.num_words)


BELIEFS = numba.typeof(_without_preference(1, 1, 1))
"""The numba type of :class:`Beliefs`, for signatures."""


def forget_beliefs(beliefs: Beliefs, trust: float) -> None:
    """Begin a game without a preference."""
    _forget(beliefs.credence, trust)


def _forget(credence: npt.NDArray[np.float64], trust: float) -> None:
    credence.fill(_PRIOR**trust)


def begin_search(beliefs: Beliefs) -> None:
    """Count anew, and draw anew: it is another state that is searched now."""
    beliefs.chosen.fill(0)
    beliefs.available.fill(0)
    beliefs.weight.fill(0.0)


def learn(beliefs: Beliefs, me: int, trust: float) -> None:
    """Note for later what a search has shown of the others.

    What was learned in earlier searches stays for actions that were not available in this one, as
    long as anything is hidden: it may have been played then.  (With few simulations it can also be
    that an action was open and no simulation came to it; then it is judged by an old search.)

    Args:
        beliefs: what was counted.
        me: who searched; what others learned who are served by the same agent is not theirs.
        trust: the power to which the share of an action is raised: less than 1 makes allowance
            for others who don't choose as the search does.
    """
    credence, seen = beliefs.credence[me], beliefs.available > 0
    if beliefs.hidden[0] == 0:
        _forget(credence, trust)
    share = (beliefs.chosen[seen] + 1.0) / (beliefs.available[seen] + 1.0 / _PRIOR)
    credence[seen] = share**trust


@register_jitable
def note_available(beliefs, player, moves, n):
    """Count ``n`` legal actions of another player."""
    for i in range(n):
        beliefs.available[player, moves[i]] += 1


def make_redraw(rules: Rules) -> Kernel:
    """The jittable ``(s, root, me, rng, moves, beliefs, trusting)``: write a redraw to ``s``.

    ``root`` is the state that ``me`` searches, ``moves`` a buffer for actions; unless ``trusting``,
    all deals weigh the same.
    """
    resample, hidden_actions = rules.resample, rules.hidden_actions
    num_words, num_players = rules.num_words, rules.num_players

    @register_jitable
    def draw(s, root, me, rng):
        copy_words(s, root, num_words)
        resample(s, me, rng)

    @register_jitable
    def plain_redraw(s, root, me, rng, moves, beliefs, trusting):
        draw(s, root, me, rng)

    if hidden_actions is None:
        return plain_redraw

    @register_jitable
    def weigh(s, me, moves, beliefs):
        """How many things the others have hidden, and the weight of the redraw."""
        hidden = 0
        weight = 1.0
        for player in range(num_players):
            if player != me:
                n = hidden_actions(s, player, moves)
                hidden += n
                for i in range(n):
                    weight *= beliefs.credence[me, player, moves[i]]
        return hidden, weight

    @register_jitable
    def redraw(s, root, me, rng, moves, beliefs, trusting):
        draw(s, root, me, rng)
        if not trusting:
            return
        hidden, weight = weigh(s, me, moves, beliefs)
        beliefs.hidden[0] = hidden
        if hidden == 0:
            return
        left = _PROPOSALS * hidden
        while True:
            if unit(rng) * beliefs.weight[0] <= weight:
                copy_words(beliefs.words, s, num_words)
                beliefs.weight[0] = weight
            left -= 1
            if left == 0:
                break
            draw(s, root, me, rng)
            _, weight = weigh(s, me, moves, beliefs)
        copy_words(s, beliefs.words, num_words)

    return redraw
