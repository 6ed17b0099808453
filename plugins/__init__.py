"""The plug-ins of this repository, one folder each; ``engine.plugins`` finds them, and the core imports none."""
