"""What tests of the core need of it (``tests/support/brought.py``)."""


def tools_table() -> str:
    """Every tool of the MCP server: what it is for, which mode and role it takes, and what it does."""
    from plugins.mcp.declared import tools_in
    from plugins.mcp.server import GROUPS, TOOLS
    from tests.docs.figures import table

    rows = []
    for group in GROUPS:
        for name, effects in tools_in(group):
            said = " ".join(str(getattr(group, name).__doc__).split()).split(". ")[0].rstrip(".")
            effect = effects.effect + ", asks models" * effects.asks
            rows.append((f"`{name}`", said, f"`{effects.mode}`", TOOLS[name], effect))
    return table(("tool", "what it does", "mode", "role", "effect"), rows)


TABLES = {"mcp.tools": tools_table}
WAITS = {("plugins/mcp/door.py", "wait"): "a thread or task that rests until there is work, and ends with a word"}
MISSING = {"mcp": ("mcp", "WORKBENCH_MCP", "read")}
"""A package without which nothing starts where this setting asks for it."""
