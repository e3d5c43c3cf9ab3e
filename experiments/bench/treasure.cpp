// Treasure in C++: the yardstick for the speed of cardcommons.
//
// The same states and the same rules as cardcommons/games/treasure/rules.py, whose head draws the
// words, and the same two pieces of work: perft, and uniformly random games.  All legal actions, or
// all outcomes of chance and their weights, are listed, then one is played in place.  For equal
// arguments the counts are equal to the last digit.
//
//   g++ -std=c++17 -O3 -march=native -o treasure treasure.cpp
//   ./treasure perft DEPTH [name=value ...]
//   ./treasure playouts GAMES SEED [name=value ...]
//
// The names are rows, columns, ranks, copies, treasure, hand and utility.  Prints one JSON object;
// `seconds` covers the work alone.

#include <algorithm>
#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "bench.hpp"

namespace {

// ---- The state ------------------------------------------------------------------------------

/// Planes have a bit for each cell, 9 * row + column.
struct State {
    std::array<Word, 4> rank;
    Word taken, black, hands, decks, meta, seen;
    std::array<std::array<Word, 2>, 2> drawn;  // 4 bits a card: its rank plus 1
};

constexpr int NUM_RANKS = 14, NUM_CELLS = 45, WIDTH = 9, CENTRE_COLUMN = 4;

constexpr Word ROW = 0x1FF;
constexpr Word COLUMN = 1 | 1 << 9 | 1 << 18 | 1 << 27 | Word{1} << 36;

constexpr Word PLAYER_CARDS = 0xFFF'FFFF;
constexpr Word LOW_OF_PAIRS = 0x555'5555;
constexpr int CARDS_SHIFT = 28;

constexpr int PLAYED_SHIFT = 2, DRAWS_SHIFT = 4, DRAWER_SHIFT = 6, ROWS_SHIFT = 9;
constexpr int COLUMNS_SHIFT = 12, HAND_SHIFT = 15, DECK_SHIFT = 18;
constexpr Word PLAYER = 1, BEGAN = 2, DEALING = 1 << 7, OVER = 1 << 8, MARGIN = 1 << 17;
constexpr Word DRAWS = 3 << DRAWS_SHIFT, DRAWER = 1 << DRAWER_SHIFT;

inline Word field(Word x, int shift, Word mask) { return x >> shift & mask; }
inline int player_to_act(Word meta) { return meta & PLAYER; }
inline int drawer(Word meta) { return field(meta, DRAWER_SHIFT, 1); }
inline int rows_of(Word meta) { return field(meta, ROWS_SHIFT, 7); }
inline int drawn_shift(int player) { return 24 + 8 * player; }
inline int held_shift(int player) { return 40 + 4 * player; }
inline Word held(Word meta, int player) { return field(meta, held_shift(player), 3); }
inline Word drawn(Word meta, int player) { return field(meta, drawn_shift(player), 31); }

/// A player's part of the hands or the decks: 2 bits for each rank.
inline Word cards_of(Word word, int player) {
    return field(word, CARDS_SHIFT * player, PLAYER_CARDS);
}

inline Word one_card(int player, int rank) { return Word{1} << (CARDS_SHIFT * player + 2 * rank); }

/// A bit at 2 * rank for each rank that is there.
inline Word ranks_of(Word cards) { return (cards | cards >> 1) & LOW_OF_PAIRS; }

/// META with a player to draw a full hand, or what is left of their deck.
inline Word begin_draw(Word meta, int player) {
    const Word left = field(meta, DECK_SHIFT, 31) - drawn(meta, player);
    const Word draws = std::min(field(meta, HAND_SHIFT, 3), left);
    return (meta & ~(DRAWS | DRAWER)) | draws << DRAWS_SHIFT | Word(player) << DRAWER_SHIFT;
}

struct Params {
    int rows = 5, columns = 5, ranks = 13, copies = 2;
    bool treasure = true;
    int hand = 3;
    bool margin = false;
};

State start(const Params& p) {
    Word deck = p.treasure;
    for (int rank = 1; rank <= p.ranks; ++rank) deck |= Word(p.copies) << 2 * rank;
    Word meta = DEALING | (p.margin ? MARGIN : 0);
    meta |= Word(p.rows) << ROWS_SHIFT | Word(p.columns) << COLUMNS_SHIFT;
    meta |= Word(p.hand) << HAND_SHIFT | Word(p.ranks * p.copies + p.treasure) << DECK_SHIFT;
    State s{};
    s.decks = deck | deck << CARDS_SHIFT;
    s.meta = begin_draw(meta, 0);
    return s;
}

// ---- Actions and outcomes -------------------------------------------------------------------

// Plays are rank * 45 + cell.  Outcomes of chance are ranks.
constexpr int DISCARDS = NUM_RANKS * NUM_CELLS;

/// play / NUM_CELLS, and sooner there than by the division for all numbers.
constexpr int rank_of_play(int play) { return play * 1457 >> 16; }

static_assert([] {
    for (int play = 0; play < DISCARDS; ++play)
        if (rank_of_play(play) != play / NUM_CELLS) return false;
    return true;
}());

/// Three ranks on five rows of at most four columns and two new ones, and three discards.
constexpr int MAX_LEGAL = 3 * 30 + 3;

/// Plays are written so many at a time; their number is harder to foresee for the processor than
/// that of such groups.  What is written too much is in the place of the discards, or of nothing.
constexpr int GROUP = 4;
static_assert(GROUP <= 3 + 1, "else the last group of plays may end beyond the list");

/// What may happen: actions, or outcomes and how many cards of each are left.
struct Choices {
    int size = 0;
    std::array<std::int32_t, MAX_LEGAL> list;
    std::array<std::int32_t, NUM_RANKS> weight;

    void add(int choice) { list[size++] = choice; }
};

// ---- Where cards may go ---------------------------------------------------------------------

inline Word home_row(Word meta, int player) {
    return ROW << (player ? WIDTH * (rows_of(meta) - 1) : 0);
}

inline Word board_of(Word meta) { return (Word{1} << WIDTH * rows_of(meta)) - 1; }
inline Word own_tops(const State& s, int player) {
    return player ? s.black : s.taken & ~s.black;
}

/// The orthogonal neighbours of `x`, and from the edge columns also cells of the next row at the
/// other edge.  No card ever lies there, nor can be played: columns in use are neighbours, and no
/// more than five.
inline Word spread(Word x) { return x << 1 | x >> 1 | x << WIDTH | x >> WIDTH; }

/// A player's tops that a path of their own joins to their home row.
inline Word connected(const State& s, int player) {
    const Word own = own_tops(s, player);
    Word reached = own & home_row(s.meta, player);
    for (int step = 0; step < 3; ++step) reached |= spread(reached) & own;  // most often enough
    for (;;) {
        const Word more = reached | (spread(reached) & own);
        if (more == reached) return reached;
        reached = more;
    }
}

/// The columns that hold cards, as 9 bits.
inline Word columns_of(Word taken) {
    const Word folded = taken | taken >> 18 | taken >> 36;
    return (folded | taken >> 9 | taken >> 27) & ROW;
}

/// Where a player may put a card, as far as place goes.
inline Word reachable(const State& s, int player) {
    const Word home = home_row(s.meta, player);
    if (!(s.meta >> (PLAYED_SHIFT + player) & 1)) return home & COLUMN << CENTRE_COLUMN;
    const Word columns = columns_of(s.taken);
    Word room = columns;
    if (popcount(columns) < static_cast<int>(field(s.meta, COLUMNS_SHIFT, 7)))
        room |= (columns << 1 | columns >> 1) & ROW;
    const Word joined = connected(s, player);
    const Word beside = spread(joined) & room * COLUMN & board_of(s.meta);
    return joined | beside | (home & columns * COLUMN);
}

/// Where the top card ranks below `rank`: a bitwise comparison, lowest bit first.
inline Word lower_tops(const State& s, int rank) {
    Word lower = 0;
    for (int i = 0; i < 4; ++i) {
        const Word wanted = -Word(rank >> i & 1), missing = ~s.rank[i];
        lower = (missing & wanted) | (lower & (missing | wanted));
    }
    return lower & s.taken;
}

inline Word treasures(const State& s) {
    return s.taken & ~(s.rank[0] | s.rank[1] | s.rank[2] | s.rank[3]);
}

// ---- What may happen ------------------------------------------------------------------------

/// The plays of a rank on `cells`.
inline void add_plays(int rank, Word cells, Choices& out) {
    int n = out.size;
    out.size += popcount(cells);
    for (; cells; n += GROUP) {
#pragma GCC unroll 4
        for (int i = 0; i < GROUP; ++i) {
            out.list[n + i] = rank * NUM_CELLS + lowest_or_64(cells);
            cells = without_lowest(cells);
        }
    }
}

/// The legal actions in ascending order.
inline void list_legal(const State& s, Choices& out) {
    out.size = 0;
    const int player = player_to_act(s.meta);
    const Word where = reachable(s, player);
    const Word ranks = ranks_of(cards_of(s.hands, player));
    for (Word left = ranks; left;) {
        const int rank = pop_lowest(left) >> 1;
        add_plays(rank, where & (~s.taken | lower_tops(s, rank)), out);
    }
    for (Word left = ranks; left;) out.add(DISCARDS + (pop_lowest(left) >> 1));
}

/// The ranks that may be drawn, ascending, and their weights.
inline void list_outcomes(const State& s, Choices& out) {
    out.size = 0;
    const Word deck = cards_of(s.decks, drawer(s.meta));
    for (Word left = ranks_of(deck); left;) {
        const int place = pop_lowest(left);
        out.weight[out.size] = deck >> place & 3;
        out.add(place >> 1);
    }
}

/// All that may happen; nothing once the game is over.
inline void list_choices(const State& s, Choices& out) {
    if (s.meta & OVER)
        out.size = 0;
    else if (s.meta & DRAWS)
        list_outcomes(s, out);
    else
        list_legal(s, out);
}

/// A random outcome of those listed, in proportion to the weights.
inline int draw_weighted(const Choices& outcomes, Rng& rng) {
    int total = 0;
    for (int i = 0; i < outcomes.size; ++i) total += outcomes.weight[i];
    int left = rng.below(total);
    int passed = 0;
    for (int i = 0; i < outcomes.size; ++i) {  // to the end: an early exit can't be foreseen
        left -= outcomes.weight[i];
        passed += left >= 0;
    }
    return outcomes.list[passed];
}

// ---- Playing --------------------------------------------------------------------------------

inline void draw(State& s, int rank) {
    const int player = drawer(s.meta);
    const Word card = one_card(player, rank), index = drawn(s.meta, player);
    s.decks -= card;
    s.hands += card;
    s.drawn[player][index >> 4] |= Word(rank + 1) << 4 * (index & 15);
    Word meta = s.meta + (Word{1} << drawn_shift(player)) + (Word{1} << held_shift(player));
    meta -= Word{1} << DRAWS_SHIFT;
    if (meta & DEALING && !(meta & DRAWS)) meta = begin_draw(meta & ~DEALING, 1);
    s.meta = meta;
}

inline void cover(State& s, int player, int rank, int cell) {
    const Word here = Word{1} << cell;
    for (int i = 0; i < 4; ++i) s.rank[i] = (s.rank[i] & ~here) | Word(rank >> i & 1) << cell;
    s.taken |= here;
    s.black = (s.black & ~here) | Word(player) << cell;
    s.meta |= Word{1} << (PLAYED_SHIFT + player);
}

/// Settle who acts next, who draws, and whether it is over.  Whoever began these hands empties
/// theirs first; the other one empties theirs second, and begins the next hands.
inline void end_turn(State& s, int player) {
    Word meta = s.meta - (Word{1} << held_shift(player));
    const bool emptied = held(meta, player) == 0;
    if (emptied) meta = begin_draw(meta, player);
    if (emptied && player != static_cast<int>(field(meta, 1, 1))) {
        meta ^= BEGAN;
        if (!(meta & DRAWS)) meta |= OVER;
    } else {
        meta ^= PLAYER;
    }
    s.meta = meta;
}

/// Play a legal action, or a possible outcome, in place.
inline void apply(State& s, int choice) {
    if (s.meta & DRAWS) return draw(s, choice);
    const int player = player_to_act(s.meta);
    int rank = choice - DISCARDS;
    if (choice < DISCARDS) {
        rank = rank_of_play(choice);
        cover(s, player, rank, choice - rank * NUM_CELLS);
    }
    s.hands -= one_card(player, rank);
    s.seen = mix(s.seen ^ Word(choice + 1));
    end_turn(s, player);
}

// ---- The score ------------------------------------------------------------------------------

inline int points(const State& s, int player) {
    const Word own = own_tops(s, player);
    return popcount(own) + 2 * popcount(own & treasures(s));
}

inline int cut_off(const State& s, int player) {
    return popcount(own_tops(s, player) & ~connected(s, player));
}

/// The utility of a finished game for player 0.
inline int payoff(const State& s) {
    int lead = points(s, 0) - points(s, 1);
    if (s.meta & MARGIN) return lead;
    if (lead == 0) lead = cut_off(s, 1) - cut_off(s, 0);
    return (lead > 0) - (lead < 0);
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
    std::int64_t returns = 0;  // of player 0
    std::array<std::int64_t, 2> wins{};
};

/// `games` uniformly random games.
Tally playouts(const State& root, std::int64_t games, Rng rng) {
    Tally tally;
    Choices choices;
    for (std::int64_t game = 0; game < games; ++game) {
        State s = root;
        while (!(s.meta & OVER)) {
            list_choices(s, choices);
            apply(s, s.meta & DRAWS ? draw_weighted(choices, rng)
                                    : choices.list[rng.below(choices.size)]);
            ++tally.actions;
        }
        const int utility = payoff(s);
        tally.returns += utility;
        tally.wins[0] += utility > 0;
        tally.wins[1] += utility < 0;
    }
    return tally;
}

// ---- The command line -----------------------------------------------------------------------

void set_param(Params& params, const std::string& name, const std::string& value) {
    if (name == "rows")
        params.rows = parse_range(value, 2, 5);
    else if (name == "columns")
        params.columns = parse_range(value, 1, 5);
    else if (name == "ranks")
        params.ranks = parse_range(value, 1, 13);
    else if (name == "copies")
        params.copies = parse_range(value, 1, 2);
    else if (name == "treasure")
        params.treasure = parse_choice(value, "False", "True");
    else if (name == "hand")
        params.hand = parse_range(value, 1, 3);
    else if (name == "utility")
        params.margin = parse_choice(value, "win", "margin");
    else
        throw std::invalid_argument("no parameter is called '" + name + "'");
}

std::string told(const State&, const Tally& tally) {
    return "\"wins\": " + listed(tally.wins, 2) +
           ", \"returns\": " + std::to_string(tally.returns);
}

}  // namespace

int main(int argc, char** argv) { return bench<Params>("treasure", argc, argv); }
