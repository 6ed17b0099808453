"""The workflows, each in a package of its own; :mod:`engine.model.config.registry` lists them."""
