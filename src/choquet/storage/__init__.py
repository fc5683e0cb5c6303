"""Files of measures, decompositions, models and more: versioned, readable, never pickled.

Small objects are JSON that people can read; large ones are a zip archive (NumPy's npz) whose first
member is the same JSON with the long arrays moved out. `load` tells them apart by content, not by
name. Both carry a checksum. Nothing in either is ever executed or unpickled.
"""

from choquet.storage.format import FORMAT, VERSION, from_bytes, load, save, to_bytes

__all__ = ["FORMAT", "VERSION", "from_bytes", "load", "save", "to_bytes"]
