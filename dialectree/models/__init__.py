"""Ask models, through :func:`dialectree.models.door.ask`. Nothing else in the project does."""
