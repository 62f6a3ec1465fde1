"""The smallest Flask application that answers in JSON: the floor that `bench_api` stands on."""

from flask import Flask


def create_app() -> Flask:
    """One path that says hello."""
    app = Flask("hello")

    @app.get("/")
    def hello() -> dict[str, str]:
        return {"hello": "world"}

    return app
