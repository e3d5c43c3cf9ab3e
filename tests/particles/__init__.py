"""Tests of the game Particles."""
