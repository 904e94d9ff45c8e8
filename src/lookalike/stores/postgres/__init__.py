"""The store in a PostgreSQL database: docs/postgres.md."""
