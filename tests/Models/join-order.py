#!/usr/bin/env python3
"""Explicit-state model of the marks of what a disk missed, and of the disk's return.

Two disks with one block each, without checksums: value 0 is durable on both. Clients write and flush; a disk loses its power, and its cache, and leaves; what
is dirty then is to be marked stale on it, later than the view without it. The power goes at any step, and the disk may be there again. Breadth first;
every rule is then taken out in turn and has to be noticed.

Rules
  open   at an opening a disk joins after the spaces are open: what is dirty is stale on the disks that are not in the view
  queue  a disk does not join before marks that are queued
  live   a copy counts at the acknowledgement of a write only if its disk is in the view and it is not stale
"""
import collections
import sys

from explore import check

S = collections.namedtuple('S', 'view there dur cac stale queued dirty write took allowed last w f c l')
RULES = ['open', 'queue', 'live']
WRITES, FLUSHES, CUTS, LEAVES = 2, 2, 1, 2


def put(values, at, value):
    return values[:at] + (value,) + values[at + 1:]


def good(s, d):
    """Whether a copy is served from: a mark counts from when it is queued, and after a power cut only if it was durable."""
    return s.view[d] and not s.stale[d] and not s.queued[d]


def steps(s, on):
    """Yields (name, state) of everything that may happen next."""
    if s.write is None and s.w < WRITES and any(s.view):
        yield 'write is sent', s._replace(write=s.w + 1, took=(None, None), w=s.w + 1, dirty=1, allowed=s.allowed | {s.w + 1})
    for d in (0, 1):
        o = 1 - d
        if s.write is not None and s.took[d] is None:
            if s.there[d] and s.view[d]:
                yield f'disk {d} takes it', s._replace(took=put(s.took, d, 1), cac=put(s.cac, d, s.write))
            if not s.view[d] or not s.there[d] or not s.view[o]:   # the last copy may fail a write too
                yield f'disk {d} does not take it', s._replace(took=put(s.took, d, 0))
        if s.there[d] and s.l < LEAVES:
            yield f'disk {d} loses its power', s._replace(there=put(s.there, d, 0), cac=put(s.cac, d, s.dur[d]), l=s.l + 1)
        if not s.there[d] and s.view[d] and good(s, o):
            yield f'disk {d} leaves', s._replace(view=put(s.view, d, 0), queued=put(s.queued, d, 1) if s.dirty else s.queued)
        if s.queued[d]:
            yield f'mark of {d} is durable', s._replace(stale=put(s.stale, d, 1), queued=put(s.queued, d, 0))
        if not s.view[d] and not (s.queued[d] and 'queue' in on):
            yield f'disk {d} joins', s._replace(view=put(s.view, d, 1), there=put(s.there, d, 1))
        if s.view[d] and s.there[d] and s.stale[d] and not s.queued[d] and good(s, o) and s.there[o] and s.write is None:
            yield f'resync {d}', s._replace(dur=put(s.dur, d, s.cac[o]), cac=put(s.cac, d, s.cac[o]), stale=put(s.stale, d, 0))
    if s.write is not None and None not in s.took:
        def counts(t, d):
            return t.took[d] and (good(t, d) or 'live' not in on)
        if any(counts(s, d) for d in (0, 1)):
            missed = [d for d in (0, 1) if not s.took[d] and not s.stale[d] and not s.queued[d]]
            if missed:
                d = missed[0]
                if not s.view[d] or s.view[1 - d]:   # it leaves first, then it is marked
                    yield f'mark of {d} for the write', s._replace(view=put(s.view, d, 0), stale=put(s.stale, d, 1), queued=put(s.queued, d, 0))
                elif 'live' not in on:
                    yield 'acknowledged', s._replace(write=None, last=s.write)
            else:
                yield 'acknowledged', s._replace(write=None, last=s.write)
        else:
            yield 'refused: old or new', s._replace(write=None, last=None)
    if s.f < FLUSHES and s.write is None and s.last is not None and any(good(s, d) for d in (0, 1)):
        if all(s.there[d] for d in (0, 1) if s.view[d]):
            dur = tuple(s.cac[d] if s.view[d] else s.dur[d] for d in (0, 1))
            yield 'flush', s._replace(dur=dur, allowed=frozenset({s.last}), f=s.f + 1)
    if s.c < CUTS:
        for a in {s.dur[0], s.cac[0]}:
            for b in {s.dur[1], s.cac[1]}:
                t = s._replace(dur=(a, b), cac=(a, b), queued=(0, 0), write=None, took=(None, None), c=s.c + 1, there=(1, 1), last=None)
                orders = [t.view] if 'open' in on else [t.view, (1, 1)]
                for view in orders:
                    u = t._replace(view=view)
                    if u.dirty:
                        for d in (0, 1):
                            if not view[d] and good(u, 1 - d):
                                u = u._replace(stale=put(u.stale, d, 1))
                        for d in (0, 1):
                            if good(u, d):         # one copy is taken and written to the others
                                value = u.cac[d]
                                v = u
                                for o in (0, 1):
                                    if good(u, o):
                                        v = v._replace(dur=put(v.dur, o, value), cac=put(v.cac, o, value))
                                yield f'power cut, {d} taken', v._replace(last=value, allowed=frozenset({value}) if value in v.allowed else v.allowed, dirty=0)
                    else:
                        yield 'power cut', u


def wrong(s):
    """What a client could be told that is not true, or None."""
    for d in (0, 1):
        if good(s, d) and s.there[d] and s.cac[d] not in s.allowed:
            return f'disk {d} reads as {s.cac[d]}, allowed {sorted(s.allowed)}'
        if good(s, d) and s.there[d] and s.last is not None and s.write is None and s.cac[d] != s.last and all(s.there[o] for o in (0, 1) if s.view[o]):
            return f'disk {d} reads as {s.cac[d]}, acknowledged {s.last}'
    return None


FIRST = [S((1, 1), (1, 1), (0, 0), (0, 0), (0, 0), (0, 0), 0, None, (None, None), frozenset({0}), 0, 0, 0, 0, 0)]
sys.exit(check(RULES, FIRST, steps, wrong))
