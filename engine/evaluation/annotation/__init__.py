"""The judging desk: which passage or answer is judged next, by whom, and how far judges agree."""
