"""Slow, readable reference engines, one for each game, to compare the fast ones with."""
