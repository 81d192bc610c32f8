"""Makes ``mindspore.npz`` with MindSpore 2.10: record files, and what its reader gives. Tests only read it."""

import sys
import tempfile
from pathlib import Path

import numpy as np
from mindspore.mindrecord import FileReader, FileWriter

sys.path.insert(0, str(Path(__file__).parents[3]))
from tests.unit.dataset.mindrecord_cases import CASES, flat  # noqa: E402

found = {}
with tempfile.TemporaryDirectory() as folder:
    for name, (schema, rows) in CASES.items():
        path = f"{folder}/{name}"
        writer = FileWriter(path, shard_num=1, overwrite=True)
        writer.set_header_size(1 << 14)
        writer.set_page_size(1 << 15)
        writer.add_schema({field: dict(about) for field, about in schema.items()}, "a text")
        writer.write_raw_data([dict(row) for row in rows])
        writer.commit()
        read = [flat(row) for row in FileReader(path).get_next()]
        assert read == [flat(row) for row in rows], (read, rows)
        found[name] = np.frombuffer(Path(path).read_bytes(), np.uint8)
np.savez_compressed(Path(__file__).parent / "mindspore.npz", **found)
