"""Volumes: what a container's mounts stand for on the node."""
