"""The node agent: does what the queue of actions says, and tells what the runtime reports."""
