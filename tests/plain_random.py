"""The generator once more in plain Python integers, to compare with."""

FULL = 2**64 - 1


class PlainRandom:
    """splitmix64, as published in C by its authors, and unbiased bounded draws from it."""

    def __init__(self, seed: int) -> None:
        self.word = seed & FULL

    def next_word(self) -> int:
        """64 random bits."""
        self.word = (self.word + 0x9E3779B97F4A7C15) & FULL
        z = self.word
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & FULL
        z = (z ^ z >> 27) * 0x94D049BB133111EB & FULL
        return z ^ z >> 31

    def below(self, n: int) -> int:
        """An integer in [0, n): the high half of a 32-bit fraction of n, rejecting the excess."""
        while True:
            whole, rest = divmod((self.next_word() >> 32) * n, 2**32)
            if rest >= 2**32 % n:
                return whole
