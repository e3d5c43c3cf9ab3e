"""Tests of Treasure."""
