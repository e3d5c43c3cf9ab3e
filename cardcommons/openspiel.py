"""Every game as an OpenSpiel game: one Game, one State and one Observer class for all of them.

Importing the package registers each family as ``cardcommons_<name>``; parameters are those of the
family's dataclass, in the dictionary form or the string form of ``pyspiel.load_game``.  Beside
:mod:`cardcommons.openspiel_tree`, this is the only module of the package that imports ``pyspiel``.

A state is one ``bytes`` value: the words of the treaty, then a byte that tells who is to move.
OpenSpiel copies and pickles whatever stands in a state's ``__dict__``, and a single immutable
value is the cheapest thing to copy.  A move is one call of compiled code, which also lists the
options of the position it leads to; they are remembered for the position looked at last.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import cache, cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyspiel

from cardcommons.compiled import compiled
from cardcommons.games import FAMILIES
from cardcommons.rng import make_rng
from cardcommons.state import State, make_verb
from cardcommons.treaty import CHANCE, TERMINAL, Family, Game, Kernel, Rules, TensorSpec, Words

PREFIX = "cardcommons_"
"""What stands before the short name of a game in OpenSpiel's registry."""

_LIKE_A_NUMBER = re.compile(r"[-+.0-9]+")

_NOTHING = -1
"""In place of an action: look at the position as it is.  OpenSpiel's invalid action."""

_FIRST = -TERMINAL
"""Added to the player to move, to make an unsigned byte that is zero when the game is over."""

_OVER = 0
_CHANCE = CHANCE + _FIRST

_apply_in_history = pyspiel.State.apply_action
_legal_by_openspiel = pyspiel.State.legal_actions

_Options = npt.NDArray[np.int64]


@cache
def make_step(rules: Rules) -> Kernel:
    """Compile the move of a packed state: ``(packed, action, options) -> n``.

    ``packed`` (``uint8[8 * num_words + 1]``) is played on in place; a negative action leaves the
    words alone.  Row 0 of ``options`` (``int64[2, max_legal]``) receives the ``n`` legal actions
    or chance outcomes of the new position, row 1 the weights of the outcomes.
    """
    to_move, legal, chance, apply = rules.to_move, rules.legal, rules.chance, rules.apply
    size = 8 * rules.num_words

    @compiled(rules.name, "int64(uint8[::1], int64, int64[:, ::1])")
    def step(packed: npt.NDArray[np.uint8], action: int, options: _Options) -> int:
        words = packed[:size].view(np.uint64)
        if action >= 0:
            apply(words, action)
        player = to_move(words)
        packed[size] = player + _FIRST
        if player == TERMINAL:
            return 0
        if player == CHANCE:
            return chance(words, options[0], options[1])  # type: ignore[no-any-return]
        return legal(words, options[0])  # type: ignore[no-any-return]

    return step


class _Desk:
    """The buffers of one call of compiled code."""

    __slots__ = ("options", "packed", "surface")

    def __init__(self, rules: Rules) -> None:
        self.packed = np.zeros(8 * rules.num_words + 1, dtype=np.uint8)
        self.surface = self.packed.data
        self.options = np.zeros((2, rules.max_legal), dtype=np.int64)


class _Stepper:
    """Moves packed states of a game, and remembers the options of the one seen last.

    Compiled code releases the GIL, so each call takes a desk of its own from the free ones.
    """

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._step = make_step(rules)
        self._free: list[_Desk] = []
        self._last: tuple[bytes, list[int], list[int]] = (b"", [], [])

    def _take(self) -> _Desk:
        try:
            return self._free.pop()
        except IndexError:
            return _Desk(self._rules)

    def _run(self, packed: bytes, action: int) -> tuple[bytes, list[int], list[int]]:
        """The state after the action, its options, and their weights if they are outcomes."""
        desk = self._take()
        desk.surface[:] = packed
        count = self._step(desk.packed, action, desk.options)
        after = desk.packed.tobytes()
        weights = desk.options[1, :count].tolist() if after[-1] == _CHANCE else []
        seen = (after, desk.options[0, :count].tolist(), weights)
        self._free.append(desk)
        self._last = seen
        return seen

    def _look(self, packed: bytes) -> tuple[bytes, list[int], list[int]]:
        last = self._last
        return last if last[0] == packed else self._run(packed, _NOTHING)

    def pack(self, words: Words) -> bytes:
        """The packed state of ``words``."""
        return self._run(words.tobytes() + b"\0", _NOTHING)[0]

    def after(self, packed: bytes, action: int) -> bytes:
        """The state after ``action``, which must be legal, or a possible outcome."""
        return self._run(packed, action)[0]

    def options(self, packed: bytes) -> list[int]:
        """The legal actions, or the possible outcomes, ascending; not to be modified."""
        return self._look(packed)[1]

    def outcomes(self, packed: bytes) -> list[tuple[int, float]]:
        """The possible outcomes and their probabilities; empty if no chance node."""
        _, options, weights = self._look(packed)
        total = sum(weights)
        return [
            (outcome, weight / total) for outcome, weight in zip(options, weights, strict=False)
        ]


class _WithGame(pyspiel.State):  # type: ignore[misc]
    """Keeps the game out of ``__dict__``, so that copies and pickles of a state leave it alone."""

    __slots__ = ("_game",)


class OpenSpielState(_WithGame):
    """A position as OpenSpiel has it; made by ``OpenSpielGame.new_initial_state``.

    The methods that C++ calls bear OpenSpiel's names and do what it documents.  An illegal action
    raises ``ValueError`` and changes nothing.  ``undo_action`` is not offered, because a Python
    game can't take actions off OpenSpiel's history.
    """

    _start: bytes | None = None
    """Where the history begins, if elsewhere than the game does."""

    def __init__(self, game: "OpenSpielGame", start: bytes | None = None) -> None:
        super().__init__(game)
        self._game = game
        self._packed = game.start if start is None else start
        if start is not None:
            self._start = start

    # Where the game stands

    def current_player(self) -> int:
        """The player to move, ``CHANCE`` or ``TERMINAL``."""
        return self._packed[-1] - _FIRST

    def is_terminal(self) -> bool:
        """Whether the game is over."""
        return self._packed[-1] == _OVER

    @property
    def words(self) -> Words:
        """The state as the treaty has it: ``uint64[num_words]``, read-only; copy it to search."""
        return np.frombuffer(self._packed, dtype=np.uint64, count=self._game.num_words)

    def to_native(self) -> State:
        """The same position for native agents; later moves of one do not touch the other."""
        return State(self._game.native_game, self.words)

    def returns(self) -> list[float]:
        """The utility of each player at the end of the game; zeros before."""
        if self._packed[-1] != _OVER:
            return [0.0] * self._game.native_game.rules.num_players
        return self.to_native().returns()

    def __str__(self) -> str:
        """The position string, then the board; the history too if anything is hidden."""
        told = str(self.to_native())
        if self._game.native_game.has_hidden_information:
            told += f"\nhistory: {self.history_str()}"
        return told

    def _repr_svg_(self) -> str:
        return self.to_native()._repr_svg_()

    # Actions

    def legal_actions(self, player: int | None = None) -> list[int]:
        """Ascending ids of the legal actions, or of the possible outcomes at a chance node.

        Without going through C++, for callers in Python; C++ asks ``_legal_actions``.
        """
        if player is None or player == self._packed[-1] - _FIRST:
            return self._game.stepper.options(self._packed).copy()
        return _legal_by_openspiel(self, player)  # type: ignore[no-any-return]

    def _legal_actions(self, player: int) -> list[int]:
        return self._game.stepper.options(self._packed)

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """The possible outcomes and their probabilities; empty if no chance node."""
        return self._game.stepper.outcomes(self._packed)

    def apply_action(self, action: int) -> None:
        """Play a legal action, or a possible outcome; ``ValueError`` if it is neither."""
        if action == pyspiel.INVALID_ACTION:  # which OpenSpiel refuses without a reason
            raise self._refusal(action)
        _apply_in_history(self, action)

    def _apply_action(self, action: int) -> None:
        stepper, packed = self._game.stepper, self._packed
        if action not in stepper.options(packed):
            raise self._refusal(action)
        self._packed = stepper.after(packed, action)

    def _refusal(self, action: int) -> ValueError:
        text, player = self._game.native_game.text, self.current_player()
        if player == TERMINAL:
            return ValueError(f"action {action} can't be played: the game is over")
        try:
            named = f"action {action} ({text.action_to_string(player, action)})"
        except ValueError:
            named = f"action {action}"
        return self._not_legal(named)

    def _not_legal(self, named: str) -> ValueError:
        legal = " ".join(map(self._notation, self.legal_actions())) or "nothing"
        return ValueError(f"{named} is not legal in {self.to_native().position}; legal: {legal}")

    def _notation(self, action: int) -> str:
        return self._game.native_game.text.action_to_string(self.current_player(), action)

    def _action_to_string(self, player: int, action: int) -> str:
        return self._game.native_game.text.action_to_string(player, action)

    def string_to_action(self, player_or_text: int | str, text: str | None = None) -> int:
        """The legal action that a text denotes: ``(text)`` or ``(player, text)``.

        Raises:
            ValueError: the text does not parse, or the action is not legal here.
        """
        if isinstance(player_or_text, str):
            player, notation = self.current_player(), player_or_text
        else:
            player, notation = player_or_text, text or ""
        action = self._game.native_game.text.string_to_action(player, notation)
        if action not in self._game.stepper.options(self._packed):
            raise self._not_legal(repr(notation))
        return action

    # Structs

    def _to_struct(self) -> dict[str, Any]:
        return self._game.struct(self.words)

    def _to_observation_struct(self, player: int) -> dict[str, Any]:
        game = self._game.native_game
        if not game.has_hidden_information:
            return self._to_struct()
        seen = game.views.string(self.words, player, public=True, private=True)
        return {"observation": seen, "current_player": self.current_player()}

    def _action_to_struct(self, player: int, action: int) -> dict[str, str]:
        return {"action": self._action_to_string(player, action)}

    def _struct_to_actions(self, told: Mapping[str, Any]) -> list[int]:
        if set(told) != {"action"} or not isinstance(told["action"], str):
            raise ValueError(f'an action reads {{"action": "<notation>"}}, not {dict(told)}')
        text = self._game.native_game.text
        return [text.string_to_action(self.current_player(), told["action"])]

    # Copies

    def __deepcopy__(self, memo: object) -> "OpenSpielState":
        return self.clone()  # type: ignore[no-any-return]

    def __copy__(self) -> "OpenSpielState":
        return self.clone()  # type: ignore[no-any-return]

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return _restored_state, (self._game, self.serialize())

    def starting_state(self) -> "OpenSpielState":
        """The state that the history begins with."""
        return OpenSpielState(self._game, self._start)

    def starting_state_str(self) -> str:
        """The same as JSON, or nothing if it is the start of the game."""
        return "" if self._start is None else str(self.starting_state().to_json())

    def resample_from_infostate(
        self, player: int, sampler: Callable[[], float]
    ) -> "OpenSpielState":
        """A copy with all that ``player`` doesn't know redrawn from its exact distribution.

        Args:
            player: who looks at the state.
            sampler: gives uniform numbers in [0, 1); one is taken, as the seed of the redraw.

        The copy keeps the history of this state, hidden draws in it included.
        """
        words = self.words.copy()
        rng = make_rng(int(sampler() * 2**53))
        make_verb(self._game.native_game.rules, "resample")(words, player, rng)
        copy: OpenSpielState = self.clone()
        copy._packed = self._game.stepper.pack(words)
        return copy


def _restored_state(game: "OpenSpielGame", serialized: str) -> OpenSpielState:
    return game.deserialize_state(serialized)  # type: ignore[no-any-return]


def to_native(state: object) -> State:
    """The native state of one of this package's OpenSpiel states.

    Raises:
        TypeError: the state is of some other game.
    """
    if not isinstance(state, OpenSpielState):
        raise TypeError(
            f"a state of a game called {PREFIX}... is needed, not {type(state).__name__}"
            + (f" of {state.get_game()}" if isinstance(state, pyspiel.State) else "")
        )
    return state.to_native()


class OpenSpielGame(pyspiel.Game):  # type: ignore[misc]
    """A game of this package as OpenSpiel has it; made by ``pyspiel.load_game``.

    Attributes:
        family: what the game is one of.
        native_game: the :class:`~cardcommons.treaty.Game` that is played.
    """

    family: ClassVar[Family]

    def __init__(self, params: Mapping[str, Any] | None = None) -> None:
        native = self.family.make(self.family.params(**(params or {})))
        super().__init__(_game_type(self.family, native), _game_info(native), _spelled(native))
        self.native_game = native
        self.num_words = native.rules.num_words

    @cached_property
    def stepper(self) -> _Stepper:
        """What moves packed states; compiled on first use."""
        return _Stepper(self.native_game.rules)

    @cached_property
    def start(self) -> bytes:
        """The packed initial state."""
        return self.stepper.pack(self.native_game.start)

    def new_initial_state(self, told: object = None) -> OpenSpielState:
        """The start of the game, or the position that is told.

        Args:
            told: a position string; or what ``to_dict``, ``to_struct`` or ``to_json`` of a state
                gave, of which the entry ``position`` suffices.

        Raises:
            ValueError: the position is refused, is one in the middle of a turn, or other entries
                contradict it.
        """
        return OpenSpielState(self, None if told is None else self.stepper.pack(self._read(told)))

    def _read(self, told: object) -> Words:
        if isinstance(told, pyspiel.StateStruct):
            told = told.to_dict()
        if isinstance(told, str) and told.lstrip().startswith("{"):
            told = _from_json(told)
        if isinstance(told, str):
            return self.native_game.text.parse(told)
        if not isinstance(told, dict) or not isinstance(told.get("position"), str):
            raise ValueError(f"a state is told by its position, or a dict with it, not {told!r}")
        return self._checked(told)

    def _checked(self, told: Mapping[str, Any]) -> Words:
        words = self.native_game.text.parse(told["position"])
        entries = self.struct(words)
        for name, value in told.items():
            if name not in entries:
                raise ValueError(f"a state has no entry {name!r} (known: {', '.join(entries)})")
            if entries[name] != value:
                raise ValueError(f"{name} is {entries[name]!r} in this position, not {value!r}")
        return words

    def struct(self, words: Words) -> dict[str, Any]:
        """A position as plain JSON values, with the player to move."""
        player = self.stepper.pack(words)[-1] - _FIRST
        return self.native_game.text.fields(words) | {"current_player": player}

    def max_chance_nodes_in_history(self) -> int:
        """The most chance nodes from the start to the end."""
        return self.native_game.max_chance_nodes

    def make_py_observer(
        self,
        iig_obs_type: pyspiel.IIGObservationType | None = None,
        params: Mapping[str, Any] | None = None,
    ) -> "OpenSpielObserver":
        """An observer; OpenSpiel passes ``params`` alone, and first, if it has no type."""
        if isinstance(iig_obs_type, dict):
            iig_obs_type, params = None, iig_obs_type
        if params:
            raise ValueError(f"observers have no parameters, so {dict(params)} can't be used")
        kind = iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False)
        return OpenSpielObserver(self.native_game, kind)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return _loaded_game, (self.get_type().short_name, self.get_parameters())


def _spelled(game: Game) -> dict[str, Any]:
    """The parameters, such that OpenSpiel can read back what it writes of them.

    It takes a text such as ``12-21`` for a number and fails; games that list numbers so accept a
    ``/`` at the end.
    """
    return {
        name: f"{value}/" if isinstance(value, str) and _LIKE_A_NUMBER.fullmatch(value) else value
        for name, value in game.parameters.items()
    }


def _from_json(text: str) -> object:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"{text!r} begins like JSON, but does not parse: {error}") from None


def _loaded_game(name: str, params: dict[str, Any]) -> OpenSpielGame:
    """Unpickling imports this module, and so registers the games."""
    return pyspiel.load_game(name, params)  # type: ignore[no-any-return]


class OpenSpielObserver:
    """What a player sees of a state, as arrays and as a string.

    Without perfect recall, the string and the blocks are the game's own views, public or private
    parts as asked for; if the private parts of all players are wanted, a private block has one
    more axis, for the players, in front.

    With perfect recall there is a string alone.  It is the history if nothing is hidden, or
    everything is to be seen; for the usual information state of a player, the present view and
    the game's information key; for anything else, all views since the start.

    Attributes:
        tensor: ``float32``, all blocks one after the other; ``None`` if there is no block.
        dict: the blocks by name, as arrays of their own shapes on the memory of ``tensor``.
    """

    def __init__(self, game: Game, kind: pyspiel.IIGObservationType) -> None:
        self._game = game
        self._public = kind.public_info
        self._recalls = kind.perfect_recall
        self._everyone = kind.private_info == pyspiel.PrivateInfoType.ALL_PLAYERS
        self._private = self._everyone or kind.private_info == pyspiel.PrivateInfoType.SINGLE_PLAYER
        self.dict: dict[str, npt.NDArray[np.float32]] = {}
        self.tensor = self._blocks()

    def _blocks(self) -> npt.NDArray[np.float32] | None:
        """Lay out the blocks; returns the memory that they share."""
        wanted = [] if self._recalls else [s for s in self._game.views.tensors if self._shows(s)]
        shapes = {spec.name: self._shape(spec) for spec in wanted}
        memory = np.zeros(sum(map(int, map(np.prod, shapes.values()))), dtype=np.float32)
        end = 0
        for name, shape in shapes.items():
            begin, end = end, end + int(np.prod(shape))
            self.dict[name] = memory[begin:end].reshape(shape)
        return memory if shapes else None

    def _shows(self, spec: TensorSpec) -> bool:
        return bool(self._private if spec.private else self._public)

    def _shape(self, spec: TensorSpec) -> tuple[int, ...]:
        stacked = self._everyone and spec.private
        return (self._game.rules.num_players, *spec.shape) if stacked else spec.shape

    def set_from(self, state: OpenSpielState, player: int) -> None:
        """Make ``tensor`` and ``dict`` show ``state`` as ``player`` sees it."""
        if self.tensor is None:
            return
        self.tensor.fill(0)
        if not self._everyone:
            self._game.views.write(state.words, player, self.dict)
            return
        private = {spec.name for spec in self._game.views.tensors if spec.private}
        public = {name: block for name, block in self.dict.items() if name not in private}
        if public:
            self._game.views.write(state.words, player, public)
        for viewer in range(self._game.rules.num_players):
            own = {name: self.dict[name][viewer] for name in private}
            if own:
                self._game.views.write(state.words, viewer, own)

    def string_from(self, state: OpenSpielState, player: int) -> str:
        """The same as a string."""
        if not self._recalls:
            return self._view(state.words, player)
        if not self._game.has_hidden_information:
            return _history(state) if self._public else ""
        if self._public and self._everyone:
            return _history(state)
        if self._public and self._private:
            key = make_verb(self._game.rules, "info_key")(state.words.copy(), player)
            return f"player {player}: {self._view(state.words, player)} #{int(key):016x}"
        return f"player {player}: {' > '.join(self._recalled(state, player))}"

    def _view(self, words: Words, player: int) -> str:
        string = self._game.views.string
        if not self._everyone:
            return string(words, player, public=self._public, private=self._private)
        players = range(self._game.rules.num_players)
        parts = [string(words, player, public=True, private=False)] if self._public else []
        parts += [string(words, viewer, public=False, private=True) for viewer in players]
        return " | ".join(filter(None, parts))

    def _recalled(self, state: OpenSpielState, player: int) -> list[str]:
        """The views of ``player`` from the start on."""
        past = state.starting_state()
        views = [self._view(past.words, player)]
        for action in state.history():
            past.apply_action(action)
            views.append(self._view(past.words, player))
        return views


def _history(state: OpenSpielState) -> str:
    """The actions so far, after the position they began with if that is not the usual one."""
    history = str(state.history_str())
    if state._start is None:
        return history
    return f"{state.starting_state().to_native().position}: {history}"


def _game_type(family: Family, game: Game) -> pyspiel.GameType:
    kinds = pyspiel.GameType
    fewest, most = family.player_range()
    return kinds(
        short_name=PREFIX + family.name,
        long_name=game.long_name,
        dynamics=kinds.Dynamics.SEQUENTIAL,
        chance_mode=kinds.ChanceMode.EXPLICIT_STOCHASTIC
        if game.has_chance
        else kinds.ChanceMode.DETERMINISTIC,
        information=kinds.Information.IMPERFECT_INFORMATION
        if game.has_hidden_information
        else kinds.Information.PERFECT_INFORMATION,
        utility=kinds.Utility.ZERO_SUM if game.rules.zero_sum else kinds.Utility.GENERAL_SUM,
        reward_model=kinds.RewardModel.TERMINAL,
        max_num_players=most,
        min_num_players=fewest,
        provides_information_state_string=True,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=True,
        provides_factored_observation_string=game.has_hidden_information,
        parameter_specification={field.name: field.default for field in fields(family.params)},
    )


def _game_info(game: Game) -> pyspiel.GameInfo:
    return pyspiel.GameInfo(
        num_distinct_actions=game.rules.num_actions,
        max_chance_outcomes=game.max_chance_outcomes,
        num_players=game.rules.num_players,
        min_utility=game.rules.min_utility,
        max_utility=game.rules.max_utility,
        utility_sum=0.0 if game.rules.zero_sum else None,
        max_game_length=game.max_decisions,
    )


def register(family: Family) -> None:
    """Make OpenSpiel know the games of a family, as ``cardcommons_<name>``.

    A name that is taken already is taken over.
    """
    # OpenSpiel lets go of its creators after the interpreter has ended, when nothing may be freed
    # any more.  A class refers to itself, so it stays; a function or a partial would crash then.
    creator = type(f"OpenSpielGame_{family.name}", (OpenSpielGame,), {"family": family})
    pyspiel.register_game(_game_type(family, family.make(family.params())), creator)


for _family in FAMILIES.values():
    register(_family)
