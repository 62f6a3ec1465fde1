"""The shapes of everything that goes in and out, each field with its meaning and an example."""
