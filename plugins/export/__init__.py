"""Settings as a LangGraph project that runs without the workbench."""
