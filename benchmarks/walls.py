"""The wall time of every case over that of the bare steps: see :mod:`benchmarks.overhead`."""

from benchmarks.overhead import walls as walls
