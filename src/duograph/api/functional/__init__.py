"""MindSpore's functions (``ops.add``, ``ops.concat`` ...): argument forms and promotion over the primitives of ``ops``.

One module per family; ``duograph.api.public_ops`` gathers them into the ``duograph.ops`` that users see.
"""
