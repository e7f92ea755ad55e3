# SPDX-License-Identifier: BSD-3-Clause
"""word2vec with intents between two hosts: its loss against plain numpy, its traffic against AdaPM's PyTorch bindings.

Skip-gram with negative samples on the text of Python's documentation (pydoc_data). A key's values are a word's vector
and AdaGrad's sums. Each step intends the words of the batch that comes 10 steps later, and computes for 10 ms more than
it has to: then the pulls of both systems see nearly all earlier pushes, and their traffic can be compared.

Staleness: each rank counts its steps under a key of its own, which both ranks pull and push with each batch. A pull is
stale by the pushes that the other rank began before and that it does not see."""

import collections
import re
import sys
import time
from collections.abc import Iterator
from pydoc_data.topics import topics
from typing import Any

import numpy as np
import torch

from adapm_nodes import NOT_FOUND, Node, node, sent_bytes, serve
from paired import WORLD, Row, print_not_measured, print_row

LENGTH, BATCH, NEGATIVES, SHARING, WINDOW = 32, 512, 5, 4, 3  # SHARING: pairs that share negative samples
EPOCHS, STEPS_AHEAD, RATE, ROUNDS, COMPUTE = 2, 10, 0.1, 7, 0.01
FRESH = 0.1  # steps of staleness
NAMES = ("kilobytes", "milliseconds", "loss")

LOSS = Row("word2vec: loss, on two hosts with intents", "nats", "highest of 7 seeds in numpy", "lower", 1)
STALENESS = Row("word2vec: staleness of pulls, with intents", "steps", f"{FRESH} steps", "lower", 1)
AGAINST_ADAPM = [
    Row("word2vec: bytes sent, with intents", "kB/step", "AdaPM", "lower", 1),
    Row("word2vec: time in the store, with intents", "ms/step", "AdaPM", "lower", None),
]
ADAPMS_STALENESS = Row("word2vec: staleness of AdaPM's pulls", "steps", f"{FRESH} steps", "lower", None)


def read_pairs() -> tuple[int, np.ndarray]:
    """The number of different words, and pairs of words that are near each other, numbered by frequency."""
    words = re.findall(r"[a-z']+", " ".join(topics.values()).lower())
    counts = [(word, count) for word, count in collections.Counter(words).most_common() if count >= 5]
    number = {word: i for i, (word, _) in enumerate(counts)}
    text = np.array([number[word] for word in words if word in number])
    draw = np.random.default_rng(1)
    frequency = np.array([count for _, count in counts]) / len(text)
    text = text[draw.random(len(text)) < np.sqrt(1e-3 / frequency[text])]
    pairs = np.concatenate([np.stack([text[:-d], text[d:]], axis=1) for d in range(1, WINDOW + 1)])
    return len(counts), draw.permutation(pairs)


WORDS, PAIRS = read_pairs()
KEYS = 2 * WORDS + 2  # words, words as neighbours, counts of the ranks' steps
TEST, TRAINING = np.split(PAIRS + np.array([0, WORDS]), [5000])  # keys


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def draw_words(draw: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Log-uniform, as the stores' samples."""
    return (np.exp(draw.random(shape) * np.log(WORDS + 1)) - 1).astype(np.int64).clip(0, WORDS - 1)


def first_values(seed: int) -> np.ndarray:
    values = np.zeros((KEYS, 2 * LENGTH), np.float32)
    values[:WORDS, :LENGTH] = (np.random.default_rng(seed).random((WORDS, LENGTH)) - 0.5) / LENGTH
    values[: 2 * WORDS, LENGTH:] = 1e-6
    return values


def test_loss(values: np.ndarray) -> float:
    vectors = values.reshape(KEYS, 2 * LENGTH)[:, :LENGTH]
    words, neighbours = vectors[TEST[:, 0]], vectors[TEST[:, 1]]
    others = vectors[WORDS + draw_words(np.random.default_rng(9), (len(TEST), NEGATIVES))]
    negative = np.einsum("bd,bnd->bn", words, others)
    return float((np.logaddexp(0, -(words * neighbours).sum(1)) + np.logaddexp(0, negative).sum(1)).mean())


def gradients(values: np.ndarray, others: np.ndarray, words: np.ndarray, neighbours: np.ndarray) -> list[np.ndarray]:
    """Of the batch's vectors and of the negative samples; words and neighbours are positions in `values`."""
    vectors = values[:, :LENGTH]
    a, b = vectors[words], vectors[neighbours]
    samples = np.repeat(others[:, :LENGTH].reshape(-1, NEGATIVES, LENGTH), SHARING, axis=0)
    near = (sigmoid((a * b).sum(1)) - 1)[:, None]
    far = sigmoid(np.einsum("bd,bnd->bn", a, samples))
    result = np.zeros_like(vectors)
    np.add.at(result, words, near * b + np.einsum("bn,bnd->bd", far, samples))
    np.add.at(result, neighbours, near * a)
    of_samples = (far[:, :, None] * a[:, None]).reshape(-1, SHARING, NEGATIVES, LENGTH).sum(1)
    return [result, of_samples.reshape(-1, LENGTH)]


def changes(gradient: np.ndarray, values: np.ndarray) -> np.ndarray:
    """AdaGrad's step of the vectors and of the sums."""
    square = gradient**2
    return np.concatenate([-RATE * gradient / np.sqrt(values[:, LENGTH:] + square + 1e-8), square], axis=1)


def batches(seed: int, rank: int, ranks: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """For each step of a rank the distinct keys, and the positions of the pairs in them."""
    draw = np.random.default_rng(seed)
    for _ in range(EPOCHS):
        mine = draw.permutation(TRAINING)[rank::ranks]
        for first in range(0, len(TRAINING) // ranks - BATCH + 1, BATCH):
            keys, places = np.unique(mine[first : first + BATCH], return_inverse=True)
            yield keys, places.reshape(BATCH, 2)


def train_plainly(seed: int, ranks: int) -> float:
    """The loss after the steps of all ranks, done in this process in numpy: the ranks' batches of a step together."""
    values, draw = first_values(seed), np.random.default_rng(100 + seed)
    for step in zip(*(batches(seed, rank, ranks) for rank in range(ranks)), strict=True):
        before = values.copy()
        for keys, places in step:
            others = WORDS + draw_words(draw, (BATCH // SHARING * NEGATIVES,))
            of_keys, of_others = gradients(before[keys], before[others], *places.T)
            values[keys] += changes(of_keys, before[keys])
            np.add.at(values, others, changes(of_others, before[others]))
    return test_loss(values)


class Job:
    """The job on a module with the interface of AdaPM's bindings. Its methods are collective."""

    def __init__(self, adapm: Any, rank: int, ranks: int) -> None:
        torch.set_num_threads(1)
        self._rank, self._ranks, self._seed = rank, ranks, 0
        adapm.setup(KEYS, 1)
        self._server = adapm.Server(2 * LENGTH)
        self._server.enable_sampling_support("local", True, "log-uniform", WORDS, 2 * WORDS)
        self._worker = adapm.Worker(0, self._server)

    def train(self) -> dict[str, Any]:
        """Trains with the next seed. Times are of the clock that all hosts of the machine share."""
        self._seed += 1
        worker = self._worker
        worker.begin_setup()
        if self._rank == 0:
            worker.set(torch.arange(KEYS), torch.from_numpy(first_values(self._seed)).flatten())
        worker.end_setup()
        counts = [2 * WORDS, 2 * WORDS + 1]
        self._batches = [
            (torch.from_numpy(np.concatenate([keys, counts])), places)
            for keys, places in batches(self._seed, self._rank, self._ranks)
        ]
        self._start, self._samples = worker.current_clock(), collections.deque()
        self._seconds, self._pushed_at, self._seen = 0.0, [], []
        for step in range(STEPS_AHEAD):
            self._prepare(step)
        self._meet()
        before = sent_bytes()
        for step in range(len(self._batches)):
            self._do_step(step)
        self._meet()
        sent = sent_bytes() - before
        values = torch.empty(KEYS * 2 * LENGTH)
        worker.pull(torch.arange(KEYS), values)
        self._meet()
        steps = len(self._batches)
        return {
            "loss": test_loss(values.numpy()),
            "kilobytes": 1e-3 * sent / steps,
            "milliseconds": 1e3 * self._seconds / steps,
            "pushed_at": self._pushed_at,
            "seen": self._seen,
        }

    def end(self) -> None:
        self._worker.finalize()
        self._server.shutdown()

    def _prepare(self, step: int) -> None:
        """Says what a later step will use."""
        if step < len(self._batches):
            clock = self._start + step
            self._worker.intent(self._batches[step][0], clock, clock + 1)
            self._samples.append(self._worker.prepare_sample(BATCH // SHARING * NEGATIVES, clock, clock + 1))

    def _do_step(self, step: int) -> None:
        worker, (keys, places) = self._worker, self._batches[step]
        values = np.empty((len(keys), 2 * LENGTH), np.float32)
        others = np.empty((BATCH // SHARING * NEGATIVES, 2 * LENGTH), np.float32)
        sample = torch.zeros(len(others), dtype=torch.int64)
        begin = time.monotonic()
        self._prepare(step + STEPS_AHEAD)
        asked = time.monotonic()
        worker.pull(keys, torch.from_numpy(values))
        self._seen.append((asked, float(values[-2 + 1 - self._rank, 0])))
        worker.pull_sample(self._samples.popleft(), sample, torch.from_numpy(others))
        pulled = time.monotonic()
        of_keys, of_others = gradients(values, others, *places.T)
        steps = changes(of_keys, values).astype(np.float32)
        steps[-2:] = 0
        steps[-2 + self._rank, 0] = 1
        of_samples = changes(of_others, others).astype(np.float32)
        time.sleep(COMPUTE)
        computed = time.monotonic()
        self._pushed_at.append(computed)
        worker.push(keys, torch.from_numpy(steps))
        worker.push(sample, torch.from_numpy(of_samples))
        worker.advance_clock()
        self._seconds += pulled - begin + time.monotonic() - computed

    def _meet(self) -> None:
        for _ in range(2):
            self._worker.wait_sync()
            self._worker.barrier()


def figures_of(result: dict[str, Any]) -> list[float]:
    """Kilobytes and milliseconds for each step, staleness, and the loss."""
    both = WORLD.allgather(result)
    stale = []
    for rank, each in enumerate(both):
        at, seen = np.array(each["seen"]).T
        stale.append(np.mean(np.searchsorted(both[1 - rank]["pushed_at"], at) - seen))
    kilobytes, milliseconds, loss = (np.mean([each[name] for each in both]) for name in NAMES)
    return [kilobytes, milliseconds, float(np.mean(stale)), loss]


def print_against(row: Row, ours: np.ndarray, reference: np.ndarray | float) -> None:
    print_row(row, ours.tolist(), np.broadcast_to(reference, ours.shape).tolist(), (ours / reference).tolist())


def measure(peer: Node | None) -> None:
    from syncyte.compat import adapm

    job = Job(adapm, WORLD.rank, WORLD.size)
    ours, others = [], []
    for round in range(1 + ROUNDS):  # the first is a warm-up
        for is_ours in (True, False) if round % 2 == 0 else (False, True):
            if is_ours:
                ours.append(figures_of(job.train()))
            elif peer is not None:
                others.append(figures_of(peer.call("train")))
    job.end()
    plain = [train_plainly(seed, WORLD.size) for seed in range(2 + WORLD.rank, 2 + ROUNDS, WORLD.size)]
    *mine, staleness, loss = np.array(ours[1:]).T
    print_against(LOSS, loss, max(map(max, WORLD.allgather(plain))))
    print_against(STALENESS, staleness, FRESH)
    if peer is not None:
        *theirs, staleness, _ = np.array(others[1:]).T
        for row, a, b in zip(AGAINST_ADAPM, mine, theirs, strict=True):
            print_against(row, a, b)
        print_against(ADAPMS_STALENESS, staleness, FRESH)


def main() -> None:
    with node(__file__, KEYS) as peer:
        measure(peer)
    if peer is None:
        for row in [*AGAINST_ADAPM, ADAPMS_STALENESS]:
            print_not_measured(row, NOT_FOUND)


if __name__ == "__main__":
    main() if len(sys.argv) == 1 else serve(Job)
