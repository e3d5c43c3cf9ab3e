"""Experiments: games between agents, their logs, and what follows from them."""
