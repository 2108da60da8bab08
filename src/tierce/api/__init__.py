"""The HTTP edge: turns requests into typed values and rows into documents.

Microversions, parameter quirks, error envelopes and links live here and nowhere below; what a request
means, who may make it and what it changes is `tierce.control`'s.

To add a route: a module in `resources/`, its parameters in `requests/`, its documents in `views/`, a
line in `app.py`, what it takes and answers in `openapi/`.
"""
