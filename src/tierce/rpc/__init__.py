"""The message bus: Zun's wire contract on one side, plain Tierce values on the other.

Versioned objects, `_context_*` keys, Zun's class names and the library's drivers stay in here. Whoever
calls a node uses `client.ComputeClient`; whoever is a node serves an endpoint with `server.ComputeServer`.
"""

from tierce.rpc.threads import use_threads

use_threads()
