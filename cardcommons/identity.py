"""What a game is, in a few letters: for files that must not be taken for those of another."""

import json
from hashlib import blake2b

from cardcommons.compiled import fingerprint
from cardcommons.treaty import Game


def digest(*parts: object) -> str:
    """A hash (32 hex digits) of plain JSON values."""
    return blake2b(json.dumps(parts).encode(), digest_size=16).hexdigest()


def rules_digest(game: Game) -> str:
    """A hash of all that decides how a game goes: parameters, start, and the code of its rules.

    It changes with any edit of that code, save of comments.
    """
    rules = game.rules
    verbs = (rules.to_move, rules.legal, rules.chance, rules.apply, rules.payoff, rules.info_key)
    start = [int(word) for word in game.start]
    codes = [fingerprint(verb) for verb in verbs]
    return digest(game.name, game.parameters, rules.num_players, start, codes)
