"""Tests of Rally."""
