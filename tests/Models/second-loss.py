#!/usr/bin/env python3
"""Explicit-state model of a line of single parity that loses one disk more than it can do without, and gets all of them back.

Three disks hold two blocks of data (A, B) and P. A disk stops answering at any step; the view excludes it later; it comes back with what it held. A change
writes A or B and P: it is recorded, written to one disk after the other, entered. A write that a disk has not taken counts if its position is durably stale;
else the change has failed, and is kept to be done again. A stale position is rebuilt from the others. FLUSH logs the entries and makes records void. The
host is killed at any step: the next opening does the records again and resyncs the line. Disks keep what was written: no power is lost.

Promised: when every disk is back and whole, both blocks read as the last acknowledged change, or as one that has failed since, and never as an error.

A change of a part of a line reads others, so that none begins while two positions are out; that whole stripes, which read nothing, are refused then is not
modelled.

Values are exact: a block is the number of the write that it is of, 0 if it was never written; P is a pair of them, or None where it is poisoned. Breadth
first; every rule is then taken out in turn and has to be noticed.

Rules
  mark    a position is marked stale only if the others can give it
  final   P is poisoned, or a block given up, only if no more than one disk does not answer, those included that the view does not exclude yet
  keep    a change that has failed stays, with its record, until it is done again
  settle  it is done again before anything of its line is rebuilt or given up
  wait    an opening does records again, and resyncs, only while no more than one position is out or stale
"""
import collections
import sys

from explore import check

A, B, P = range(3)
NAMES = 'ABP'
RULES = ['mark', 'final', 'keep', 'settle', 'wait']
WRITES, LOSSES, KILLS, FLUSHES = 3, 3, 1, 1

# disks: what each holds; answers, view: whether it does, and is in the view; stale; entries of A, B and P in memory and in the log; job: the change under way
# (block, value, P or POISON, positions to write, positions that did not take it); failed: changes to be done again, oldest first; journal: open records, oldest
# first, with whether they are done; allowed: values that A and B may have; up: whether the host serves
S = collections.namedtuple('S', 'disks answers view stale entries log job failed journal allowed up w n k f')
POISON = 'poison'
ERROR = 'error'


def put(values, at, value):
    return values[:at] + (value,) + values[at + 1:]


def good(s, d):
    return s.view[d] and not s.stale[d]


def outs(s):
    return sum(not good(s, d) for d in (A, B, P))


def silent(s):
    return sum(not (good(s, d) and s.answers[d]) for d in (A, B, P))


def own(s, d):
    """What a position gives that answers, is not stale and matches its entry; else None."""
    return s.disks[d] if good(s, d) and s.answers[d] and s.disks[d] == s.entries[d] else None


def rebuilt(s, d):
    """What the others give for a block of data, if it matches its entry; else None."""
    p = s.disks[P] if good(s, P) and s.answers[P] and s.entries[P] != POISON else None
    other = own(s, 1 - d)
    return s.entries[d] if other is not None and p is not None and p != POISON and p[1 - d] == other and p[d] == s.entries[d] else None


def give(s, d):
    return own(s, d) if own(s, d) is not None else rebuilt(s, d)


def steps(s, on):
    for d in (A, B, P) if s.n < LOSSES else ():
        if s.answers[d]:
            yield f'{NAMES[d]} stops answering', s._replace(answers=put(s.answers, d, False), n=s.n + 1)
    for d in (A, B, P):
        if not s.answers[d] and s.view[d]:
            yield f'{NAMES[d]} leaves the view', left(s, d, on)
        if not s.answers[d] and not s.view[d] and not (s.job and d in s.job[4]):
            yield f'{NAMES[d]} comes back', s._replace(answers=put(s.answers, d, True), view=put(s.view, d, True))
    if s.k < KILLS and s.up:
        yield 'kill', s._replace(up=False, entries=s.log, job=None, failed=(), k=s.k + 1)
    if not s.up:
        if outs(s) <= 1 and silent(s) <= 1 or 'wait' not in on:
            yield 'open', opened(s)
        return
    if s.job:
        yield from carried(s, on)
        return
    if s.f < FLUSHES:
        yield 'flush', s._replace(log=s.entries, f=s.f + 1, journal=tuple(record for record in s.journal if not record[3]))
    if s.failed and outs(s) <= 1:
        block, value, p = s.failed[0]
        yield 'again', s._replace(job=(block, value, p, (block, P), (), True))
    if not s.failed or 'settle' not in on:
        for d in (A, B, P):
            if s.view[d] and s.answers[d] and s.stale[d] and outs(s) == 1:
                yield from rebuilds(s, d, on)
    if not s.failed and s.w <= WRITES:
        for d in (A, B):
            yield from begun(s, d, on)


def left(s, d, on):
    """The view excludes a disk: the line is dirty, so its position is stale where the others can give it."""
    t = s._replace(view=put(s.view, d, False))
    others = sum(not good(t, o) for o in (A, B, P) if o != d)
    return t._replace(stale=put(t.stale, d, True)) if others == 0 or 'mark' not in on else t


def begun(s, d, on):
    """A change of a block begins: P from the old data and the old P, else from the other block; else it is poisoned."""
    v = s.w
    s = s._replace(w=v + 1, allowed=put(s.allowed, d, s.allowed[d] + (v,)))
    if outs(s) > 1:
        return
    old, p = own(s, d), s.disks[P] if good(s, P) and s.answers[P] and s.entries[P] == s.disks[P] else None
    other = p[1 - d] if old is not None and p not in (None, POISON) else give(s, 1 - d)
    if other is None and silent(s) > 1 and 'final' in on:
        return
    after = POISON if other is None else put((other, other), d, v)
    yield f'write {NAMES[d]}', s._replace(job=(d, v, after, (d,) if after == POISON else (d, P), (), False),
                                          journal=s.journal + ((d, v, after, False),))


def carried(s, on):
    """One more disk gets the change; when all have, it counts, or has failed."""
    block, value, p, todo, missed, again = s.job
    for d in todo:
        rest = tuple(o for o in todo if o != d)
        if s.answers[d] and s.view[d]:
            yield f'{NAMES[d]} written', s._replace(disks=put(s.disks, d, value if d == block else p), job=(block, value, p, rest, missed, again))
        else:
            yield f'{NAMES[d]} does not take it', s._replace(job=(block, value, p, rest, missed + (d,), again))
    if todo or any(s.view[d] and not s.answers[d] for d in missed):
        return      # those that failed leave the view first
    for d in missed:
        others = sum(not good(s, o) for o in (A, B, P) if o != d)
        s = s._replace(stale=put(s.stale, d, True)) if others == 0 or 'mark' not in on else s
    ends = all(s.stale[d] for d in missed) and outs(s) <= 1
    if ends:
        s = s._replace(entries=put(put(s.entries, block, value), P, p), job=None, journal=done(s.journal, value), failed=s.failed[1:] if again else s.failed)
        yield 'entered', s if again else s._replace(allowed=put(s.allowed, block, (value,)))
    elif 'keep' in on:
        yield 'failed', s._replace(job=None, failed=s.failed if again else ((block, value, p),))
    else:
        yield 'failed, forgotten', s._replace(job=None, failed=(), journal=tuple(record for record in s.journal if record[1] != value))


def done(journal, value):
    return tuple((*record[:3], record[3] or record[1] == value) for record in journal)


def rebuilds(s, d, on):
    """A stale position is rebuilt, or, where nothing gives a block, that is given up: its entry and P become those of what there is."""
    if d == P:
        values = give(s, A), give(s, B)
        if None in values:
            if silent(s) <= 1 or 'final' not in on:
                yield 'P is left as it is', s._replace(stale=put(s.stale, P, False))
            return
        yield 'P rebuilt', s._replace(disks=put(s.disks, P, values), entries=put(s.entries, P, values), stale=put(s.stale, P, False))
        return
    value = rebuilt(s, d)
    if value is not None:
        yield f'{NAMES[d]} rebuilt', s._replace(disks=put(s.disks, d, value), stale=put(s.stale, d, False))
    elif s.disks[d] == s.entries[d]:
        yield f'{NAMES[d]} is whole', s._replace(stale=put(s.stale, d, False))
    elif silent(s) <= 1 or 'final' not in on:
        yield f'{NAMES[d]} given up', s._replace(entries=put(s.entries, d, ERROR), stale=put(s.stale, d, False))


def opened(s):
    for block, value, p, _ in s.journal:
        for d, written in ((block, value), (P, p)):
            if s.view[d] and s.answers[d] and not (d == P and p == POISON):
                s = s._replace(disks=put(s.disks, d, written))
            else:
                s = s._replace(stale=put(s.stale, d, True)) if d != P or p != POISON else s
        s = s._replace(entries=put(put(s.entries, block, value), P, p))
    for d in (A, B):        # resync: what does not match is rebuilt, or taken as it is; what is out and is not given makes P poisoned
        if give(s, d) is None and good(s, d) and s.answers[d]:
            s = s._replace(entries=put(s.entries, d, s.disks[d]))
    values = give(s, A), give(s, B)
    if None in values:
        s = s._replace(entries=put(s.entries, P, POISON))
    elif good(s, P) and s.answers[P]:
        s = s._replace(disks=put(s.disks, P, values), entries=put(s.entries, P, values))
    return s._replace(log=s.entries, journal=(), up=True)


def wrong(s):
    if not s.up or s.job or s.failed or not all(s.answers) or not all(s.view):
        return None
    if outs(s) > 1:
        return 'two positions are stale: nothing gives the line'
    if any(s.stale):
        return None
    for d in (A, B):
        value = give(s, d)
        if value is None:
            return f'block {NAMES[d]} reads as an error'
        if value not in s.allowed[d]:
            return f'block {NAMES[d]} reads as {value}, allowed {s.allowed[d]}'
    return None


if __name__ == '__main__':
    start = S((0, 0, (0, 0)), (True,) * 3, (True,) * 3, (False,) * 3, (0, 0, (0, 0)), (0, 0, (0, 0)), None, (), (), ((0,), (0,)), True, 1, 0, 0, 0)
    sys.exit(check(RULES, [start], steps, wrong))
