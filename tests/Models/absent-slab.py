#!/usr/bin/env python3
"""Explicit-state model of the first write of a mirrored row while a disk is away.

Two disks with one slab each, full of a former owner's bytes (F); one block without checksums; a row that the map does not have, owns, or
has initialized. Disks leave, return with any part of their caches, and the power goes at any step. Breadth first; every rule is then
taken out in turn and has to be noticed, except those that are named as free.

Rules
  own    a row with a slab on a disk that is away is in the map, owned and not initialized, before anything of it is marked
  mark   a copy that was not cleared is durably stale before the row is initialized
  clear  a slab that is there is cleared before the row is initialized
  flush  that clearing is flushed before the row is initialized
  again  a disk that left meanwhile makes the clearing begin again
  some   a row is initialized only with a copy that was cleared and is not stale
  whole  every copy that was cleared and is stale from before is made good before the row is initialized
"""
import collections
import sys

from explore import check

NONE, OWNED, READY = 0, 1, 2
F = 'F'
S = collections.namedtuple('S', 'row stale live dur cac blank flushed version dirty allowed last w f c l')
RULES = ['own', 'mark', 'clear', 'flush', 'again', 'some', 'whole']
WRITES, FLUSHES, CUTS, LEAVES = 2, 1, 2, 3


def put(values, at, value):
    return values[:at] + (value,) + values[at + 1:]


def good(s, d):
    return s.live[d] and not s.stale[d]


def reset(s):
    return s._replace(blank=(0, 0), flushed=0, version=0)


def steps(s, on):
    """Yields (name, state) of everything that may happen next."""
    if s.w < WRITES and s.row != READY:
        if s.row == NONE:
            if not all(s.live):
                if any(s.live):
                    yield 'map owned', reset(s._replace(row=OWNED))
            else:
                yield from prepare(s, on, thin=True)
        else:
            yield from prepare(s, on, thin=False)
    if s.w < WRITES and s.row == READY and any(good(s, d) for d in (0, 1)):
        value, dur, cac, stale = s.w + 1, s.dur, s.cac, s.stale
        for d in (0, 1):
            if s.live[d]:
                cac = put(cac, d, value)
            else:
                stale = put(stale, d, 1)
        yield f'write {value}', s._replace(cac=cac, stale=stale, dirty=1, w=s.w + 1, last=value, allowed=s.allowed | {value})
    if s.f < FLUSHES and s.row == READY and s.w:
        dur = tuple(s.cac[d] if s.live[d] else s.dur[d] for d in (0, 1))
        if any(good(s, d) for d in (0, 1)):
            yield 'flush', s._replace(dur=dur, f=s.f + 1, allowed=frozenset({s.last}))
    for d in (0, 1):
        o = 1 - d
        if s.live[d] and s.l < LEAVES and (s.row != READY or good(s, o) or not good(s, d)):   # the last good copy of data is never lost
            stale = put(s.stale, d, 1) if s.row == READY and s.dirty and good(s, o) else s.stale
            yield f'disk {d} leaves', s._replace(live=put(s.live, d, 0), stale=stale, version=1, l=s.l + 1)
        if not s.live[d]:
            for value in {s.dur[d], s.cac[d]}:
                yield f'disk {d} returns', s._replace(live=put(s.live, d, 1), dur=put(s.dur, d, value), cac=put(s.cac, d, value))
        if s.row == READY and s.live[d] and s.stale[d] and good(s, o):
            yield f'resync {d}', s._replace(dur=put(s.dur, d, s.cac[o]), cac=put(s.cac, d, s.cac[o]), stale=put(s.stale, d, 0))
    if s.c < CUTS:
        for a in {s.dur[0], s.cac[0]}:
            for b in {s.dur[1], s.cac[1]}:
                t = reset(s._replace(dur=(a, b), cac=(a, b), c=s.c + 1))
                if t.row == READY and t.dirty:
                    goods = [d for d in (0, 1) if good(t, d)]
                    for d in (0, 1):      # missing at the opening: what was dirty is stale there
                        if goods and not t.live[d]:
                            t = t._replace(stale=put(t.stale, d, 1))
                    for d in goods:       # one copy is taken and written to the others
                        value = t.cac[d]
                        u = t
                        for o in goods:
                            u = u._replace(dur=put(u.dur, o, value), cac=put(u.cac, o, value))
                        yield f'power cut, {d} taken', u._replace(last=value, allowed=frozenset({value}) if value in u.allowed else u.allowed)
                    if goods:
                        continue
                yield 'power cut', t


def prepare(s, on, thin):
    """Clearing, flush and commit of a row that is about to be written for the first time."""
    for d in (0, 1):
        if s.live[d] and not s.blank[d] and not s.flushed and 'clear' in on:
            yield f'clear {d}', s._replace(cac=put(s.cac, d, 0), blank=put(s.blank, d, 1))
    cleared = all(s.blank[d] or not s.live[d] for d in (0, 1)) or 'clear' not in on
    if not cleared:
        return
    if not s.flushed and (any(s.live) or 'some' not in on):
        dur = tuple(s.cac[d] if s.live[d] and 'flush' in on else s.dur[d] for d in (0, 1))
        yield 'flush of the clearing', s._replace(dur=dur, flushed=1)
    if not s.flushed:
        return
    if s.version and 'again' in on:
        yield 'begin again', reset(s)
        return
    stale = s.stale
    blanked = [d for d in (0, 1) if s.live[d] and (s.blank[d] or 'clear' not in on)]
    if not blanked and 'some' in on:
        yield 'no copy: refused', reset(s)
        return
    if 'whole' in on:
        for d in blanked:
            stale = put(stale, d, 0)
    if 'mark' in on:
        for d in (0, 1):
            if d not in blanked:
                if thin and 'own' in on:
                    return            # the map does not have the row: nothing can be marked
                stale = put(stale, d, 1)
        if stale != s.stale:
            yield 'mark', s._replace(stale=stale)
            return
    vain = tuple(1 if d in blanked and stale[d] else 0 for d in (0, 1))
    yield 'commit', reset(s._replace(row=READY, stale=stale, dirty=0))._replace(blank=vain)


def wrong(s):
    """What a client could be told that is not true, or None."""
    if s.row != READY:
        return None
    for d in (0, 1):
        if good(s, d) and s.cac[d] not in s.allowed:
            return f'disk {d} reads as {s.cac[d]}, allowed {sorted(map(str, s.allowed))}'
    if any(s.blank[d] and s.stale[d] and s.live[d] for d in (0, 1)):
        return 'a copy that was cleared misses nothing and is stale'
    if all(s.live) and all(s.stale):
        return 'no copy is good although both disks are there'
    return None


FIRST = [S(row, stale, live, (F, F), (F, F), (0, 0), 0, 0, 0, frozenset({0}), 0, 0, 0, 0, 0)
         for row in (NONE, OWNED) for live in ((1, 1), (1, 0), (0, 1))
         for stale in ([(0, 0), (0, 1), (1, 1)] if row == OWNED else [(0, 0)])]   # a disk that lost what it held left marks on rows never written
# Without the rule `own` the mark has no row to be of: the order is forced, not chosen.
sys.exit(check(RULES, FIRST, steps, wrong, forced=['own']))
