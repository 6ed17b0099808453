"""The workbench for agents that speak the Model Context Protocol: its tools, resources and prompts."""
