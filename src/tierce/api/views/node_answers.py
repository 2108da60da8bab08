"""What nodes answer to those who look into a container, as it is passed on to clients."""

from typing import Final

from tierce.api.views.shapes import BOOLEAN, INTEGER, NUMBER, STRING, Shape, array, nullable, record

LOGS: Final[Shape] = STRING

EXECUTED: Final[Shape] = record(
    {
        "output": nullable(STRING),
        "exit_code": nullable(INTEGER),
        "exec_id": nullable(STRING),
        "proxy_url": nullable(STRING),
    }
)

PROCESSES: Final[Shape] = record({"Titles": array(STRING), "Processes": array(array(STRING))})

SAMPLE: Final[Shape] = record(
    {
        "CONTAINER": STRING,
        "CPU %": NUMBER,
        "MEM USAGE(MiB)": NUMBER,
        "MEM LIMIT(MiB)": NUMBER,
        "MEM %": NUMBER,
        "BLOCK I/O(B)": STRING,
        "NET I/O(B)": STRING,
    }
)

TERMINAL: Final[Shape] = {**STRING, "description": "Where to connect to with a WebSocket."}

ARCHIVE: Final[Shape] = record(
    {
        "data": {**STRING, "description": "A tar file: base64, and text below microversion 1.25."},
        "stat": record(
            {"name": STRING, "size": INTEGER, "mode": INTEGER, "mtime": STRING, "linkTarget": STRING}
        ),
    }
)

FOUND_IMAGE: Final[Shape] = record(
    {
        "name": STRING,
        "description": nullable(STRING),
        "is_automated": BOOLEAN,
        "metadata": record({"is_official": BOOLEAN, "star_count": INTEGER}),
    }
)
