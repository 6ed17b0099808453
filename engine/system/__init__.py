"""State of this machine: health, models, measured speed, settings (the System page)."""
