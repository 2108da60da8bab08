"""The database: schema, connections and the queries of each aggregate."""
