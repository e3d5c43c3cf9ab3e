"""Tests of cardcommons."""
