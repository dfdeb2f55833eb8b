"""The graphs of scripts by the names of their methods, for a project file of LangGraph.

A server looks for a graph among the names of this module, and does not call ``__getattr__``.
"""

from __future__ import annotations

from dialectree.protocols.protocol import methods, refuse

for _name, _method in methods().items():
    if _method.variant.script is not None and not _method.protocol.missing():
        try:
            globals()[_name] = _method.graph()
        except Exception as error:  # whatever a stranger's script makes impossible
            refuse(_name, error)
