"""The face: the HTTP API, its Python client and the `rage` command."""
