"""Tierce: containers as a cloud service."""

__version__ = "0.1.0"
