"""The API alone as a WSGI application on the database in $TIERCE_BENCHMARK_HOME, for `servers`."""

import os
import pathlib

from benchmarks.listing import api, configuration

application = api(configuration(pathlib.Path(os.environ["TIERCE_BENCHMARK_HOME"])))
