"""Long-term memory: earlier questions with the answers that passed, kept across restarts (DL-06)."""
