"""rl_pipeline: from the logs and trial files of a reinforcement-learning run to the truth about it."""

__version__ = "0.1.0"
