// Gluons in C++: the yardstick for the speed of cardcommons.
//
// The same states and the same rules as cardcommons/games/gluons/rules.py, whose head draws the
// words, and the same two pieces of work: perft, and uniformly random games.  All legal actions, or
// all outcomes of chance and their weights, are listed, then one is played in place.  For equal
// arguments the counts are equal to the last digit.
//
//   g++ -std=c++17 -O3 -march=native -o gluons gluons.cpp
//   ./gluons perft DEPTH [name=value ...]
//   ./gluons playouts GAMES SEED [name=value ...]
//
// The names are players, face_up, reemission, copies, hand, utility, max_rounds, pairs and sides.
// Prints one JSON object; `seconds` covers the work alone.

#include <algorithm>
#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "bench.hpp"

namespace {

// ---- The state ------------------------------------------------------------------------------

constexpr int NUM_PAIRS = 6, NUM_AREAS = 12, MOST_PLAYERS = 4;

struct Record {
    Word drawn, shown;
};

/// A plane is 12 bits, one for each area, 6 * nucleon + side; a count of cards 12 bits, two for
/// each pair.
struct State {
    Word own, value, hands, decks, counts, meta, seen;
    std::array<Record, MOST_PLAYERS> records;
};

inline Word field(Word x, int shift, Word mask) { return x >> shift & mask; }
inline Word with_field(Word x, int shift, Word mask, Word value) {
    return (x & ~(mask << shift)) | value << shift;
}

constexpr Word PLANE = 0xFFF, LOW_OF_PAIRS = 0x555;
constexpr int TOP = 48;  // in own: blocked; value: face down; decks: existing; counts: quarks
constexpr int HAND_COUNT = 16, DECK_COUNT = 32, DRAWN_COUNT = 48, SHOWN_COUNT = 36, MOMENTS = 40;

constexpr Word NEXT_DRAW = 4, NEXT_END = 5, NEXT = 7, NEXT_AND_ACTOR = 31;
constexpr int ACTOR = 3, FIRST = 5, DRAWS = 7, PHASE = 10, PLACE = 12, LOCKED = 14, TAKEN = 17;
constexpr int ORDER = 20, OUT = 28, PLAYED = 32, PLAYED_UP = 40, ROUND = 44, MAX_ROUNDS = 48;
constexpr int FULL_HAND = 56, PLAYERS = 59;
constexpr Word FINAL = Word{1} << 52, FACE_UP = Word{1} << 53, REEMISSION = Word{1} << 54;
constexpr Word POINTS = Word{1} << 55;
constexpr Word PLAN = Word{7} << LOCKED | Word{0xFFFF} << OUT;
constexpr Word TOKENS_AND_TURNS =
    Word{0xFF} << ORDER | Word{7} << TAKEN | Word{3} << PLACE | Word{3} << PHASE | Word{15} << OUT;

enum Phase { BLOCKING, PLANNING, ACTIVATION };

inline int players_of(Word meta) { return meta >> PLAYERS; }
inline int actor(Word meta) { return field(meta, ACTOR, 3); }
inline int first_player(Word meta) { return field(meta, FIRST, 3); }
inline int phase(Word meta) { return field(meta, PHASE, 3); }
inline int played(Word meta, int player) { return field(meta, PLAYED + 2 * player, 3); }
inline bool played_up(Word meta, int player) { return field(meta, PLAYED_UP + player, 1); }
inline bool is_over(Word meta) { return (meta & NEXT) == NEXT_END; }
inline bool is_drawing(Word meta) { return (meta & NEXT) == NEXT_DRAW; }

inline Word acting(Word meta, int player) { return (meta & ~NEXT_AND_ACTOR) | Word(player * 9); }

inline int clockwise(Word meta, int player) {
    return player + 1 == players_of(meta) ? 0 : player + 1;
}

/// The second of an ordered pair; the first is half of its number.
inline int second_of(int pair) { return 0b01'00'10'00'10'01 >> 2 * pair & 3; }
inline int pair_of(int first, int second) { return 2 * first + second - (second > first); }

inline Word one_card(int player, int pair) { return Word{1} << (12 * player + 2 * pair); }
inline Word cards_of(Word word, int player) { return field(word, 12 * player, PLANE); }
inline int count_of(Word cards, int pair) { return cards >> 2 * pair & 3; }

/// A bit at 2 * pair for each pair that is there.
inline Word pairs_of(Word cards) { return (cards | cards >> 1) & LOW_OF_PAIRS; }

inline int points(const State& s, int player) { return field(s.counts, 4 * player, 15); }
inline int hand_size(const State& s, int player) {
    return field(s.counts, HAND_COUNT + 4 * player, 15);
}
inline int deck_size(const State& s, int player) {
    return field(s.counts, DECK_COUNT + 4 * player, 15);
}

inline Word existing(const State& s) { return s.decks >> TOP; }
inline Word blocked(const State& s) { return s.own >> TOP; }
inline Word gluons(const State& s, int player) {
    return field(s.own, NUM_AREAS * player, PLANE) & ~blocked(s);
}

inline Word empty(const State& s) {
    const Word halves = s.own | s.own >> 2 * NUM_AREAS;
    return existing(s) & ~(halves | halves >> NUM_AREAS);
}

inline int value_at(const State& s, int area) {
    return static_cast<int>(field(s.value, 4 * area, 15)) - 1;
}

/// Where the quarks beside an area lie in `counts`.
struct Sides {
    int emitting, receiving;

    explicit Sides(int area) {
        const int nucleon = area >= NUM_PAIRS, side = area - NUM_PAIRS * nucleon;
        emitting = TOP + 6 * nucleon + 2 * (side >> 1);
        receiving = TOP + 6 * nucleon + 2 * second_of(side);
    }
};

inline int quarks_at(Word counts, Sides sides) {
    return pair_of(field(counts, sides.emitting, 3), field(counts, sides.receiving, 3));
}

// ---- Actions and outcomes -------------------------------------------------------------------

// Plays are pair * 12 + area, and DOWN more face down.  Outcomes of chance are pairs.
constexpr int DOWN = NUM_PAIRS * NUM_AREAS, PASS = 2 * DOWN, BLOCK = PASS + 1;
constexpr int ACTIVATE = BLOCK + NUM_AREAS, REEMIT = ACTIVATE + NUM_AREAS;

constexpr int MOST_PAIRS = 5;  // in a hand
constexpr int MAX_LEGAL = 2 * MOST_PAIRS * NUM_AREAS + 1;

/// The areas of each set of the six on a nucleon, ascending.  They are written eight at a time, and
/// what is too much is in the place of what comes next, or of nothing.
constexpr int GROUP = 8;
constexpr auto AREAS = [] {
    std::array<std::array<std::int32_t, GROUP>, 1 << NUM_PAIRS> areas{};
    for (int set = 0; set < 1 << NUM_PAIRS; ++set)
        for (int area = 0, n = 0; area < NUM_PAIRS; ++area)
            if (set >> area & 1) areas[set][n++] = area;
    return areas;
}();

/// What may happen: actions, or outcomes and how many cards of each are left.
struct Choices {
    int size = 0;
    std::array<std::int32_t, MAX_LEGAL + GROUP> list;
    std::array<std::int32_t, NUM_PAIRS + 1> weight;

    void add(int choice) { list[size++] = choice; }

    /// An action for each area: those of a nucleon are written all at once.
    void add_areas(int first_action, Word areas) {
        add_nucleon(first_action, areas & 63);
        if (areas >> NUM_PAIRS) add_nucleon(first_action + NUM_PAIRS, areas >> NUM_PAIRS);
    }

private:
    void add_nucleon(int first_action, Word areas) {
        for (int i = 0; i < GROUP; ++i) list[size + i] = first_action + AREAS[areas][i];
        size += popcount(areas);
    }
};

// ---- What may happen ------------------------------------------------------------------------

/// The plays of all pairs on all areas.
inline void add_plays(int first_action, Word pairs, Word areas, Choices& out) {
    while (pairs) out.add_areas(first_action + (pop_lowest(pairs) >> 1) * NUM_AREAS, areas);
}

/// Whether the duty of a gluon face up can still be met after one face down.
inline bool may_play_down(Word meta, int player, int cards) {
    const bool not_the_last = (played(meta, player) < 2) & (cards > 1);
    return (played_up(meta, player) | not_the_last) & !(meta & FACE_UP);
}

inline void list_plans(const State& s, int player, Choices& out) {
    const int cards = hand_size(s, player);
    if (played(s.meta, player) < 3 && cards > 0) {
        const Word pairs = pairs_of(cards_of(s.hands, player)), areas = empty(s);
        add_plays(0, pairs, areas, out);
        const int face_up = out.size;
        add_plays(DOWN, pairs, areas, out);  // legal or not, which can't be foreseen
        out.size = face_up << may_play_down(s.meta, player, cards);
    }
    out.list[out.size] = PASS;
    out.size += played_up(s.meta, player) | (cards == 0);
}

/// The pair that would make the gluon on an area valid if discarded; -1 if none would.
inline int missing(const State& s, int area) {
    const int value = value_at(s, area), quarks = quarks_at(s.counts, Sides(area));
    if (value == quarks || value >> 1 != quarks >> 1) return -1;
    return pair_of(second_of(value), second_of(quarks));
}

inline void list_reemissions(const State& s, int player, Choices& out) {
    const Word cards = cards_of(s.hands, player);
    for (Word areas = gluons(s, player); areas;) {
        const int area = pop_lowest(areas), pair = missing(s, area);
        if (pair >= 0 && count_of(cards, pair)) out.add(REEMIT + area * NUM_PAIRS + pair);
    }
}

/// The pairs that may be drawn, ascending, and their weights.
inline void list_outcomes(const State& s, Choices& out) {
    const Word deck = cards_of(s.decks, actor(s.meta));
    for (int pair = 0; pair < NUM_PAIRS; ++pair) {
        const int count = count_of(deck, pair);
        out.list[out.size] = pair;
        out.weight[out.size] = count;
        out.size += count > 0;
    }
}

/// All that may happen; nothing once the game is over.
inline void list_choices(const State& s, Choices& out) {
    out.size = 0;
    if (is_over(s.meta)) return;
    if (is_drawing(s.meta)) return list_outcomes(s, out);
    const int player = actor(s.meta), now = phase(s.meta);
    if (now == PLANNING) return list_plans(s, player, out);
    if (now == BLOCKING) return out.add_areas(BLOCK, empty(s));
    out.add_areas(ACTIVATE, gluons(s, player));
    if (s.meta & REEMISSION) list_reemissions(s, player, out);
}

/// A random outcome of those listed, in proportion to the weights, of which `total` is the sum.
inline int draw_weighted(const Choices& outcomes, int total, Rng& rng) {
    int left = rng.below(total);
    int passed = 0;
    for (int i = 0; i < outcomes.size; ++i) {  // to the end: an early exit can't be foreseen
        left -= outcomes.weight[i];
        passed += left >= 0;
    }
    return outcomes.list[passed];
}

// ---- Drawing --------------------------------------------------------------------------------

inline void begin_draws(State& s, int player) {
    const int full = field(s.meta, FULL_HAND, 7);
    int draws = full;
    if (field(s.meta, ROUND, 15))
        draws = std::min({2, full - hand_size(s, player), deck_size(s, player)});
    const Word meta = s.meta & ~(NEXT_AND_ACTOR | Word{7} << DRAWS);
    s.meta = meta | NEXT_DRAW | Word(player) << ACTOR | Word(draws) << DRAWS;
}

inline void begin_round(State& s) {
    Word meta = s.meta + (Word{1} << ROUND);
    const int players = players_of(meta);
    bool final = false;
    for (int player = 0; player < players; ++player) final |= deck_size(s, player) == 0;
    meta |= (final ? FINAL : 0) | Word(players == 3 ? BLOCKING : PLANNING) << PHASE;
    s.meta = acting(meta, first_player(meta));
}

inline void draw(State& s, int pair) {
    const int player = actor(s.meta);
    const Word card = one_card(player, pair);
    s.decks -= card;
    s.hands += card;
    s.counts += (Word{1} << (HAND_COUNT + 4 * player)) - (Word{1} << (DECK_COUNT + 4 * player));
    Word& drawn = s.records[player].drawn;
    drawn += (Word(pair + 1) << 4 * (drawn >> DRAWN_COUNT)) + (Word{1} << DRAWN_COUNT);
    s.meta -= Word{1} << DRAWS;
    if (field(s.meta, DRAWS, 7)) return;
    const int following = clockwise(s.meta, player);
    if (following == first_player(s.meta))
        begin_round(s);
    else
        begin_draws(s, following);
}

// ---- Planning and activation ----------------------------------------------------------------

/// Record that everybody sees a card, if they do.  Once they have seen twelve, the moment is one too
/// high for the word, but they see no more.
inline void show(State& s, int player, int pair, bool seen) {
    Record& record = s.records[player];
    const int count = field(record.shown, SHOWN_COUNT, 15);
    const int moment = (static_cast<int>(record.drawn >> DRAWN_COUNT) + count) % 24;
    const Word more =
        Word(pair) << 3 * count | Word{1} << SHOWN_COUNT | Word{1} << (MOMENTS + moment);
    record.shown += more * seen;
}

inline void discard(State& s, int player, int pair) {
    s.hands -= one_card(player, pair);
    s.counts -= Word{1} << (HAND_COUNT + 4 * player);
}

inline void see(State& s, Word event) { s.seen = mix(s.seen ^ event); }

/// How far on the next one is, counting from behind `place` around to it, who is not out.
inline int steps_to_next(Word meta, int place) {
    const int players = players_of(meta);
    const Word in = ~field(meta, OUT, 15) & ((1 << players) - 1);
    return lowest((in | in << players) >> (place + 1)) + 1;
}

inline int around(Word meta, int place) {
    const int players = players_of(meta);
    return place >= players ? place - players : place;
}

inline bool all_out(Word meta) { return field(meta, OUT, 15) == (Word{1} << players_of(meta)) - 1; }

inline void end_round(State& s) {
    s.own = 0;
    Word meta = s.meta & ~TOKENS_AND_TURNS;
    if (meta & FINAL || field(meta, ROUND, 15) == field(meta, MAX_ROUNDS, 15)) {
        s.meta = (meta & ~NEXT_AND_ACTOR) | NEXT_END;
        return;
    }
    const int first = clockwise(meta, first_player(meta));
    s.meta = with_field(meta, FIRST, 3, first);
    begin_draws(s, first);
}

/// Let the next one in the order, behind `place`, who has a gluon activate it.
inline void next_activation(State& s, int place) {
    const Word meta = s.meta;
    if (all_out(meta)) return end_round(s);
    place = around(meta, place + steps_to_next(meta, place));
    s.meta = acting(with_field(meta, PLACE, 3, place), field(meta, ORDER + 2 * place, 3));
}

inline void begin_activation(State& s) {
    Word meta = (s.meta & ~(PLAN | Word{3} << PHASE)) | Word{ACTIVATION} << PHASE;
    const int players = players_of(meta);
    for (int place = 0; place < players; ++place)
        meta |= Word(gluons(s, field(meta, ORDER + 2 * place, 3)) == 0) << (OUT + place);
    s.meta = meta;
    next_activation(s, players - 1);
}

/// Pass the turn on; tokens are locked as it comes round to the first player.
inline void next_planner(State& s, int player) {
    Word meta = s.meta;
    if (all_out(meta)) return begin_activation(s);
    const int steps = steps_to_next(meta, player);
    int to_first = first_player(meta) - player;
    to_first += to_first <= 0 ? players_of(meta) : 0;
    const Word change = field(meta, LOCKED, 7) ^ field(meta, TAKEN, 7);
    meta ^= (change << LOCKED) * (to_first <= steps);
    s.meta = acting(meta, around(meta, player + steps));
}

/// META with a player who passes: behind the locked tokens, before the others.
inline Word take_token(Word meta, int player) {
    const int behind = 2 * field(meta, LOCKED, 7);
    const Word order = field(meta, ORDER, 0xFF), before = order & ((Word{1} << behind) - 1);
    const Word taken = before | Word(player) << behind | (order ^ before) << 2;
    meta = with_field(meta, ORDER, 0xFF, taken & 0xFF);
    meta &= ~(Word{3} << (PLAYED + 2 * player) | Word{1} << (PLAYED_UP + player));
    return (meta | Word{1} << (OUT + player)) + (Word{1} << TAKEN);
}

inline void play(State& s, int player, int action) {
    const bool down = action >= DOWN;
    const int face_up = action - DOWN * down;
    const int pair = static_cast<unsigned>(face_up) / NUM_AREAS, area = face_up - pair * NUM_AREAS;
    see(s, (down ? DOWN + area : action) + 1);
    s.own |= Word{1} << (NUM_AREAS * player + area);
    s.value |= Word(pair + 1) << 4 * area | Word(down) << (TOP + area);
    discard(s, player, pair);
    s.meta += Word{1} << (PLAYED + 2 * player);
    s.meta |= Word(!down) << (PLAYED_UP + player);
    show(s, player, pair, !down);
}

inline void plan(State& s, int player, int action) {
    if (action == PASS) {
        see(s, action + 1);
        s.meta = take_token(s.meta, player);
    } else {
        play(s, player, action);
    }
    next_planner(s, player);
}

inline void block(State& s, int player, int area) {
    see(s, BLOCK + area + 1);
    s.own |= Word{1} << (NUM_AREAS * player + area) | Word{1} << (TOP + area);
    const int following = clockwise(s.meta, player);
    if (following == first_player(s.meta)) s.meta |= Word{PLANNING} << PHASE;
    s.meta = acting(s.meta, following);
}

/// Activate the gluon on an area; `discarded` is the pair that helps it, or -1.
inline void activate(State& s, int player, int area, int discarded) {
    const Sides sides(area);
    const int value = value_at(s, area);
    bool valid = value == quarks_at(s.counts, sides);
    show(s, player, value, field(s.value, TOP + area, 1));
    if (discarded >= 0) {
        valid = true;
        discard(s, player, discarded);
        show(s, player, discarded, true);
    }
    const Word difference = (s.counts >> sides.emitting ^ s.counts >> sides.receiving) & 3 * valid;
    s.counts ^= difference << sides.emitting ^ difference << sides.receiving;
    s.counts += Word{valid} << 4 * player;
    s.own ^= Word{1} << (NUM_AREAS * player + area);
    s.value &= ~(Word{1} << (TOP + area) | Word{15} << 4 * area);
    const int place = field(s.meta, PLACE, 3);
    s.meta |= Word(gluons(s, player) == 0) << (OUT + place);
    next_activation(s, place);
}

/// Play a legal action, or a possible outcome, in place.
[[gnu::always_inline]] inline void apply(State& s, int choice) {
    if (is_drawing(s.meta)) return draw(s, choice);
    const int player = actor(s.meta);
    if (choice <= PASS) return plan(s, player, choice);
    if (choice < ACTIVATE) return block(s, player, choice - BLOCK);
    int area = choice - ACTIVATE, discarded = -1;
    if (choice >= REEMIT) {
        area = (choice - REEMIT) / NUM_PAIRS;
        discarded = (choice - REEMIT) - area * NUM_PAIRS;
    }
    see(s, choice + 1 + (value_at(s, area) << 10));
    activate(s, player, area, discarded);
}

// ---- The score ------------------------------------------------------------------------------

/// What decides a finished game: points, then an empty deck, then the hand, then the seat.
inline int rank(const State& s, int player) {
    int behind = player - first_player(s.meta);
    behind += behind < 0 ? players_of(s.meta) : 0;
    const int out_of_cards = deck_size(s, player) == 0;
    return ((points(s, player) * 2 + out_of_cards) * 8 + hand_size(s, player)) * 4 + 3 - behind;
}

inline int winner(const State& s) {
    int best = 0;
    for (int player = 1; player < players_of(s.meta); ++player)
        if (rank(s, player) > rank(s, best)) best = player;
    return best;
}

// ---- The work -------------------------------------------------------------------------------

/// The ways to play `depth` actions, at least 1; the last is counted, not played.
std::int64_t perft(const State& s, int depth) {
    Choices choices;
    list_choices(s, choices);
    if (depth == 1) return choices.size;
    std::int64_t leaves = 0;
    for (int i = 0; i < choices.size; ++i) {
        State child = s;
        apply(child, choices.list[i]);
        leaves += perft(child, depth - 1);
    }
    return leaves;
}

struct Tally {
    std::int64_t actions = 0;
    std::array<std::int64_t, MOST_PLAYERS> wins{}, points{};
};

/// `games` uniformly random games.
Tally playouts(const State& root, std::int64_t games, Rng rng) {
    Tally tally;
    Choices choices;
    for (std::int64_t game = 0; game < games; ++game) {
        State s = root;
        while (!is_over(s.meta)) {
            list_choices(s, choices);
            apply(s, is_drawing(s.meta) ? draw_weighted(choices, deck_size(s, actor(s.meta)), rng)
                                        : choices.list[rng.below(choices.size)]);
            ++tally.actions;
        }
        ++tally.wins[winner(s)];
        for (int player = 0; player < players_of(s.meta); ++player)
            tally.points[player] += points(s, player);
    }
    return tally;
}

// ---- The start ------------------------------------------------------------------------------

constexpr std::array<std::string_view, NUM_PAIRS> PAIR_NAMES{"RG", "RB", "GR", "GB", "BR", "BG"};
constexpr std::array<std::string_view, NUM_PAIRS> SIDE_NAMES{"12", "13", "21", "23", "31", "32"};

struct Params {
    int players = 2;
    bool face_up = false, reemission = false;
    int copies = 2, hand = 5;
    bool points = false;
    int max_rounds = 0;
    unsigned pairs = 63, sides = 63;  // sets
};

State start(const Params& p) {
    Word deck = 0;
    for (int pair = 0; pair < NUM_PAIRS; ++pair)
        deck |= Word(p.pairs >> pair & 1) * p.copies << 2 * pair;
    State s{};
    s.decks = Word(p.players == 2 ? p.sides : p.sides * 65) << TOP;
    s.counts = Word{0b10'01'00'10'01'00} << TOP;
    for (int player = 0; player < p.players; ++player) {
        s.decks |= deck << 12 * player;
        s.counts |= Word(popcount(p.pairs) * p.copies) << (DECK_COUNT + 4 * player);
    }
    s.meta = Word(p.max_rounds) << MAX_ROUNDS | Word(p.hand) << FULL_HAND;
    s.meta |= Word(p.players) << PLAYERS | (p.face_up ? FACE_UP : 0);
    s.meta |= (p.reemission ? REEMISSION : 0) | (p.points ? POINTS : 0);
    begin_draws(s, 0);
    return s;
}

// ---- The command line -----------------------------------------------------------------------

/// The set that a text such as `12-21-23` or `12-21/` lists; all if it is empty.
unsigned parse_set(std::string text, const std::array<std::string_view, NUM_PAIRS>& names) {
    if (text.empty()) return 63;
    if (text.back() == '/') text.pop_back();
    unsigned set = 0;
    for (std::size_t begin = 0; begin <= text.size(); begin += 3) {
        const auto found = std::find(names.begin(), names.end(), text.substr(begin, 2));
        if (found == names.end() || (begin + 2 < text.size() && text[begin + 2] != '-'))
            throw std::invalid_argument("not a list such as " + std::string(names[0]) + "-" +
                                        std::string(names[1]) + ": '" + text + "'");
        set |= 1u << (found - names.begin());
    }
    return set;
}

void set_param(Params& params, const std::string& name, const std::string& value) {
    if (name == "players")
        params.players = parse_range(value, 2, 4);
    else if (name == "face_up")
        params.face_up = parse_choice(value, "False", "True");
    else if (name == "reemission")
        params.reemission = parse_choice(value, "False", "True");
    else if (name == "copies")
        params.copies = parse_range(value, 1, 2);
    else if (name == "hand")
        params.hand = parse_range(value, 1, 5);
    else if (name == "utility")
        params.points = parse_choice(value, "win", "points");
    else if (name == "max_rounds")
        params.max_rounds = parse_range(value, 0, 15);
    else if (name == "pairs")
        params.pairs = parse_set(value, PAIR_NAMES);
    else if (name == "sides")
        params.sides = parse_set(value, SIDE_NAMES);
    else
        throw std::invalid_argument("no parameter is called '" + name + "'");
}

std::string told(const State& root, const Tally& tally) {
    const int players = players_of(root.meta);
    return "\"wins\": " + listed(tally.wins, players) +
           ", \"points\": " + listed(tally.points, players);
}

}  // namespace

int main(int argc, char** argv) { return bench<Params>("gluons", argc, argv); }
