"""Saved settings as models of the chat protocol of OpenAI: every chat is a run."""
