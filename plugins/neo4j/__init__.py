"""Knowledge graphs on a Neo4j server instead of a file of the data folder."""
