"""Container runtimes: one protocol (`base`), the Docker Engine, and a scripted fake."""
