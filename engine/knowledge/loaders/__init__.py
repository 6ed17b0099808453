"""One module for each format of file: bytes in, title and sections out."""
