"""Instances that a label tree is searched for, and how the work is cut into pieces."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from xmlc.csr import KernelCSR
from xmlc.runtime.parallel import batches, row_blocks, run_pieces
from xmlc.runtime.threads import resolve_threads

ROWS_PER_SEARCH = 256  # instances per piece where each is searched by itself
ROWS_PER_BATCH = 8192  # and at most so many where a batch descends level by level

Kernel = Callable[..., tuple[np.ndarray, ...]]


class Queries(NamedTuple):
    """Instances and what the search kernels need to know besides the weights of the tree.

    Attributes
    ----------
    x : KernelCSR
        The instances.
    link : int
        How scores become estimates, see `estimate_scores`.
    shape : tuple of int
        Number of features, largest number of non-zeros of an instance, largest number of siblings in the tree.
    n_jobs : int or None
        Threads, see `run_pieces`.
    title : str
        For the progress display.
    """

    x: KernelCSR
    link: int
    shape: tuple[int, int, int]
    n_jobs: int | None
    title: str

    def one_by_one(self, kernel: Kernel, nodes: object, *arguments: object) -> tuple[np.ndarray, ...]:
        """Run a kernel that searches each instance by itself, in small pieces.

        Parameters
        ----------
        kernel : callable
            Takes instances, the first of them and the last plus one, nodes, link, ``arguments`` and shape.
        nodes : NodeWeights, CompactNodeWeights or HashedWeights
        *arguments
            Of this kernel.

        Returns
        -------
        tuple of ndarray
            What the kernel returns, for all instances.
        """
        return self._run(kernel, nodes, arguments, row_blocks(self.n_rows, ROWS_PER_SEARCH))

    def in_batches(self, kernel: Kernel, nodes: object, *arguments: object) -> tuple[np.ndarray, ...]:
        """Run a kernel that descends with many instances at once; parameters and result as for `one_by_one`.

        How rows are cut does not show in the result.
        """
        return self._run(kernel, nodes, arguments, self.batches())

    @property
    def n_rows(self) -> int:
        """Number of instances."""
        return self.x.indptr.size - 1

    @property
    def n_threads(self) -> int:
        """Number of threads, see `resolve_threads`."""
        return resolve_threads(self.n_jobs)

    def batches(self) -> list[tuple[int, int]]:
        """Return the first instance of each batch and the last plus one."""
        return batches(self.n_rows, ROWS_PER_BATCH, self.n_jobs)

    def _run(
        self, kernel: Kernel, nodes: object, arguments: tuple[object, ...], blocks: list[tuple[int, int]]
    ) -> tuple[np.ndarray, ...]:
        blocks = blocks or [(0, 0)]  # an empty one keeps the types of the result when there are no instances
        pieces = [(self.x, *block, nodes, self.link, *arguments, self.shape) for block in blocks]
        costs = [end - start for start, end in blocks]
        found = run_pieces(kernel, pieces, self.n_jobs, costs, title=self.title, unit="instances")
        return tuple(np.concatenate(part) for part in zip(*found))
