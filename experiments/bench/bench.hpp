// What the C++ programs of the bench share: bits of words, random numbers, a watch, and the reading
// of arguments.  The random numbers are those of cardcommons/rng.py.

#pragma once

#include <charconv>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>

using Word = std::uint64_t;

// ---- Words ----------------------------------------------------------------------------------

inline int popcount(Word x) { return __builtin_popcountll(x); }
inline int lowest(Word x) { return __builtin_ctzll(x); }
inline Word without_lowest(Word x) { return x & (x - 1); }

/// The index of the lowest set bit; 64 if there is none.
inline int lowest_or_64(Word x) { return popcount(~x & (x - 1)); }

/// The index of the lowest set bit, which is cleared: `while (x) use(pop_lowest(x));`
inline int pop_lowest(Word& x) {
    const int index = lowest(x);
    x = without_lowest(x);
    return index;
}

/// The finaliser of splitmix64 (Steele, Lea and Flood, 2014).
inline Word mix(Word x) {
    x = (x ^ (x >> 30)) * 0xBF58'476D'1CE4'E5B9;
    x = (x ^ (x >> 27)) * 0x94D0'49BB'1331'11EB;
    return x ^ (x >> 31);
}

/// splitmix64.
struct Rng {
    Word state;

    Word next() { return mix(state += 0x9E37'79B9'7F4A'7C15); }

    /// Uniform in [0, n), without bias (Lemire, 2019).
    int below(int n) {
        const auto bound = static_cast<std::uint32_t>(n);
        Word product = (next() >> 32) * bound;
        if (static_cast<std::uint32_t>(product) < bound) {
            const std::uint32_t threshold = -bound % bound;
            while (static_cast<std::uint32_t>(product) < threshold)
                product = (next() >> 32) * bound;
        }
        return static_cast<int>(product >> 32);
    }
};

class Stopwatch {
    using Clock = std::chrono::steady_clock;
    Clock::time_point begun = Clock::now();

public:
    double seconds() const { return std::chrono::duration<double>(Clock::now() - begun).count(); }
};

template <class Number>
Number parse(const std::string& text) {
    Number value{};
    const char* end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || stopped != end)
        throw std::invalid_argument("not a number, or out of range: '" + text + "'");
    return value;
}

inline int parse_range(const std::string& text, int least, int most) {
    const int value = parse<int>(text);
    if (value < least || value > most)
        throw std::invalid_argument("not from " + std::to_string(least) + " to " +
                                    std::to_string(most) + ": '" + text + "'");
    return value;
}

/// Which of two words `text` is: true for the second.
inline bool parse_choice(const std::string& text, const std::string& no, const std::string& yes) {
    if (text != no && text != yes)
        throw std::invalid_argument("not " + no + " or " + yes + ": '" + text + "'");
    return text == yes;
}
