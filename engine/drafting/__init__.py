"""Questions drafted from the documents of a collection, to accept, edit or refuse."""
