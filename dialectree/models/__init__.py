"""The door to the models (:func:`dialectree.models.door.ask`) and what stands behind it.

Nothing else in the project talks to a model.
"""
