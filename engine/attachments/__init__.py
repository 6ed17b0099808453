"""Images and tables that come with a question: read within limits, checked, and handed to a run (GH-05)."""
