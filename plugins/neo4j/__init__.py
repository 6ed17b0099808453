"""Knowledge graphs in a Neo4j server, with its official driver."""
