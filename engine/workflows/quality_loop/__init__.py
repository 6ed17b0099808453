"""The quality-control loop."""
