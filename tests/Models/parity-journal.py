#!/usr/bin/env python3
"""Explicit-state model of partial writes in place into one line of parity, with a journal in front.

Three or four disks hold two blocks of data (A, B), P and, with dual parity, Q. A write replaces one block and the parities. Its record in the journal has the
new data and the parities of the untouched block (PP, PQ), so that the untouched block can be computed if its disk is lost together with the power. FLUSH
makes blocks and entries durable. The power goes at any step; as many disks as there are parities are lost at any step, also with the power; each disk keeps
any of what it had not flushed. Breadth first; every rule is then taken out in turn and has to be noticed. With the argument 2: dual parity.

Values are exact: a block is the number of the write that it is of, a parity a pair of them; what is no block's value is an error.

Rules
  record  a record is in the journal before the line is written in place
  durable the record is durable before the line is written in place
  settle  earlier writes of the line are durable, with their entries, before a record of the line replaces another one
  pp      the record holds the parities of the untouched block, and the replay uses these and not those that it finds
  data    the record holds the new data
  replay  open records are replayed before anything is resynced or served
  keep    a record is void only when what it covers is durable, with its entries
"""
import collections
import itertools
import sys

from explore import check

A, B = 0, 1
PARITIES = int(sys.argv[1]) if len(sys.argv) > 1 else 1
CHECKS = tuple(range(2, 2 + PARITIES))
DISKS = (A, B) + CHECKS
ERROR = -1
RULES = ['record', 'durable', 'settle', 'pp', 'data', 'replay', 'keep']
WRITES, FLUSHES, CUTS = (3, 2, 2) if PARITIES == 1 else (3, 1, 2)

# disks: for each what is durable and what was written since, in order; live: disks that are there; entries in memory and in the log; journal: durable record
# and the one on its way; job: block, value, PP, what is done; up: serving, or opened and not replayed; allowed: values that A and B may have after a cut
S = collections.namedtuple('S', 'disks live entries log journal coming job up allowed w f c')


def put(values, at, value):
    return values[:at] + (value,) + values[at + 1:]


def now(s, d):
    dur, since = s.disks[d]
    return since[-1] if since else dur


def write(s, d, value):
    if not s.live[d]:
        return s
    dur, since = s.disks[d]
    return s._replace(disks=put(s.disks, d, (dur, since if since and since[-1] == value else since + (value,))))


def harden(s):
    return s._replace(disks=tuple((now(s, d), ()) for d in DISKS))


def computed(s, d):
    """Values of a block of data that the other disks give: a parity with the other block, or two parities that agree."""
    o = 1 - d
    pairs = [now(s, c) for c in CHECKS if s.live[c]]
    return [pair[d] for pair in pairs if s.live[o] and pair[o] == now(s, o)] + [pair[d] for pair in pairs if pairs.count(pair) == 2]


def read(s, d):
    """The value of a block of data: from its disk, or from the others; ERROR if neither gives what its entry says."""
    entry = s.entries[d]
    return entry if (s.live[d] and now(s, d) == entry) or entry in computed(s, d) else ERROR


def unsettled(s):
    return any(since for dur, since in s.disks) or s.entries != s.log


def cuts(s):
    """All states of the media after the power is gone."""
    for kept in itertools.product(*({dur, *since} for dur, since in s.disks)):
        for log in {s.log, s.entries} if s.f and s.up == 1 else {s.log}:
            for journal in {s.journal, s.coming} if s.coming is not None else {s.journal}:
                yield s._replace(
                    disks=tuple((value, ()) for value in kept), log=log, entries=log, journal=journal, coming=None, job=None, up=0, c=s.c + 1)


def steps(s, on):
    """Yields (name, state) of everything that may happen next."""
    if s.live.count(0) < PARITIES:
        for d in DISKS:
            if s.live[d]:
                yield f'disk {d} is lost', s._replace(live=put(s.live, d, 0))
    if s.c < CUTS:
        for t in cuts(s):
            yield 'power cut', t
    if s.up == 0:
        yield from recover(s, on)
        return
    if s.job is None:
        if s.w < WRITES:
            for d in (A, B):
                other = read(s, 1 - d)
                if other == ERROR:
                    continue
                if 'settle' in on and unsettled(s):
                    yield 'settle', harden(s)._replace(log=s.entries, journal=() if 'keep' in on else s.journal)
                    continue
                value = s.w + 1
                coming = (d, value if 'data' in on else ERROR, other if 'pp' in on else ERROR)
                allowed = put(s.allowed, d, s.allowed[d] | {value})
                t = s._replace(job=(d, value, other, 0), w=s.w + 1, allowed=allowed)
                yield f'write {value} of {d}', t._replace(coming=coming) if 'record' in on else t
        if s.f < FLUSHES:
            t = harden(s)._replace(log=s.entries, f=s.f + 1, allowed=tuple(frozenset({e}) for e in s.entries))
            yield 'flush', t._replace(journal=()) if 'keep' in on else t
        return
    d, value, other, done = s.job
    if s.coming is not None and ('durable' in on or s.coming == ()):
        yield 'record durable', s._replace(journal=s.coming, coming=None)
        return
    if done & 1 == 0:
        yield f'{d} in place', write(s, d, value)._replace(job=(d, value, other, done | 1))
    for c in CHECKS:
        if done >> c & 1 == 0:
            yield f'{c} in place', write(s, c, (value, other) if d == A else (other, value))._replace(job=(d, value, other, done | 1 << c))
    if done == 1 | sum(1 << c for c in CHECKS):
        t = s._replace(job=None, entries=put(s.entries, d, value))
        yield 'acknowledge', t if 'keep' in on else t._replace(journal=(), coming=None)


def recover(s, on):
    """The opening: the open record, then blocks and parity made to agree, flush, entries, flush."""
    t = s
    if s.journal and 'replay' in on:
        d, value, other = s.journal
        o = 1 - d
        if value == ERROR:   # without the data: what is found, or what the parities give
            value = now(s, d) if s.live[d] else s.entries[d] if s.entries[d] in computed(s, d) else ERROR
        if other == ERROR:   # without PP: what is found, or what the parities give
            other = now(s, o) if s.live[o] else (computed(s, o) + [ERROR])[0]
        t = write(t, d, value)._replace(entries=put(t.entries, d, value))
        for c in CHECKS:
            t = write(t, c, (value, other) if d == A else (other, value))
    else:
        for d in (A, B):      # what matches stays; what is out is computed if it matches; else what is there is an unflushed write
            if t.live[d] and now(t, d) != t.entries[d]:
                t = t._replace(entries=put(t.entries, d, now(t, d)))
        values = [now(t, d) if t.live[d] else read(t, d) for d in (A, B)]
        for c in CHECKS:
            t = write(t, c, tuple(values)) if ERROR not in values else t
    if t != s:
        yield 'recovered, not flushed', t
    yield 'flush and serve', harden(t)._replace(up=1, log=t.entries, journal=())


def wrong(s):
    """What a client could be told that is not true, or None."""
    if s.up != 1 or s.job is not None:
        return None
    for d in (A, B):
        value = read(s, d)
        if value not in s.allowed[d]:
            return f'block {"AB"[d]} reads as {"an error" if value == ERROR else value}, allowed {sorted(s.allowed[d])}'
    return None


FIRST = [S(((0, ()), (0, ())) + (((0, 0), ()),) * PARITIES, (1,) * len(DISKS), (0, 0), (0, 0), (), None, None, 1, (frozenset({0}), frozenset({0})), 0, 0, 0)]
sys.exit(check(RULES, FIRST, steps, wrong))
