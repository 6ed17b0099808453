"""A team: who signs in, what they may do and did, and what several replicas share."""
