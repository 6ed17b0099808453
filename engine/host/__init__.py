"""What this machine has and does: health, models, measured speed, settings (the System page)."""
