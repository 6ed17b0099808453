"""The workbench for agents that speak the Model Context Protocol: its tools, resources and prompts.

Only :mod:`engine.mcp_server.door` is imported by the app; the rest, which imports the library ``mcp``, is imported at
the first request, and by the command ``mcp``.
"""
