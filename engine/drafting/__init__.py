"""Questions drafted from the documents of a collection, for somebody to accept, edit or refuse."""
