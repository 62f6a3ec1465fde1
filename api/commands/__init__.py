"""The verbs of `rage` that talk to a server or to the engine; each file is loaded when its verb is used."""
