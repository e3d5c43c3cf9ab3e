"""Tests of Gluons."""
