"""Stand-ins that the tests start in place of real servers."""
