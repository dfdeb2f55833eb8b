"""The graphs, one folder for each protocol; a folder's ``__init__`` declares the protocol."""
