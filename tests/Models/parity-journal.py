#!/usr/bin/env python3
"""Explicit-state model of changes in place of one line of parity, with a journal in front.

Three or four disks hold two blocks of data (A, B), P and, with dual parity, Q. The journal is a sequence of records. A record holds what its write puts in
place: the new data, the new entries, and the new parities as absolute values. Several records of the line may be open. A change is a write of A or B, an unmap
of A, B or both, or a write of the whole stripe, which has no record while every disk is in. FLUSH captures the changed entries, flushes the blocks, and logs
these entries; then the records of the writes that were complete at the capture are void in memory. They are durably void with a later record, which says how
many records before it are, or with a record that says only this. An opening replays the records that are not durably void, resyncs the line, and serves.

The power goes at any step; as many disks as there are parities are lost at any step, also with the power. A disk keeps any of what it had not flushed, the
log any of the entries that were on their way. Never-written blocks hold garbage, and unmapped ones do at once; in the parities both count as zeros. Breadth
first; every rule is then taken out in turn and has to be noticed. With the argument 2: dual parity.

Promised: after a cut a block is what the last flush left, or a later value, and the same one from then on. A block of a stripe that was written without a
record and not flushed may be an error if a disk is lost as well. No other block may.

The process is killed, and the newest of several records has rotted in every copy: what outlives the process says so, and says what was acknowledged.

Values are exact: a block is the number of the write that it is of, 0 if it was never written; a parity is a pair of them.

Rules
  record  a write of a part of the line is in the journal before it is in place
  unmap   so is an unmap of a part of the line
  line    so is an unmap of the whole line
  out     so is a write of the whole stripe while a disk is out
  durable the record, and all records before it, are durable before its blocks are written in place
  redo    a write whose record may be durable is completed: a later change of the line never begins without it
  parity  the record holds the parities
  data    the record holds the new data
  capture a FLUSH makes records void only if their writes were complete when it captured the entries
  blocks  a FLUSH logs the entries after it flushed the blocks
  keep    a record is void only when its blocks and entries are durable
  gone    all records of the line are durably void before a stripe is written without a record
  replay  open records are replayed before anything is resynced or served
  order   they are replayed in their order
  resync  a line of which a stripe without a record was not flushed is resynced after the replay
  void    the replayed records are durably void before the line is served: a resync is a change without a record
  end     a journal that has lost its end replays nothing
  lost    with dual parity a block that nothing gives is poisoned, and the parities are those of the others with zeros for it; with single parity the parity
          is poisoned and the entry of the block stays

Not needed, and therefore left open here: the entries of a line in one record of the log, a flush between the replay and the resync, the resync of a line
with open records alone.
"""
import collections
import itertools
import sys

from explore import check

A, B = 0, 1
PARITIES = int(sys.argv[1]) if len(sys.argv) > 1 else 1
CHECKS = tuple(range(2, 2 + PARITIES))
DISKS = (A, B) + CHECKS
ERROR, GARBAGE, POISONED = -1, -2, -3
OPENED, REPLAYED, LOGGED, RESYNCED, CLEAN, SERVING = range(6)
RULES = ['record', 'unmap', 'line', 'out', 'durable', 'redo', 'parity', 'data', 'capture', 'blocks', 'keep', 'gone', 'replay', 'order', 'resync', 'void', 'end']
RULES += ['lost'] if PARITIES == 2 else []
RECORDS, FLUSHES = 2, 1

# disks: for each the values that a cut may leave, and the value now; live: disks that are there; entries in memory and in the log: A, B, whether the parities
# are poisoned; journal: durable records that are not durably void, and how many of them are void in memory; coming: how many records the one on its way makes
# durably void, and that one; job: the change that waits for it; flush: captured entries, records that end with it, older values that end with it; up: how far
# an opening is; history: values that A and B may have, oldest first; hole: 1 or 2 if a stripe without a record is not flushed, 2 if it is later than the
# capture; excused: 2 for blocks that may be errors since this cut, 1 for those that are since one before it
S = collections.namedtuple('S', 'disks live entries log journal void coming job flush up history hole excused w f c')


def bounds(on):
    """How many changes and cuts there are. That a rule is missing is noticed with fewer."""
    return (3 if PARITIES == 1 and len(on) == len(RULES) else 2), (2 if len(on) == len(RULES) or 'void' not in on else 1)


def put(values, at, value):
    return values[:at] + (value,) + values[at + 1:]


def now(s, d):
    return s.disks[d][1]


def write(s, d, value):
    return s._replace(disks=put(s.disks, d, (s.disks[d][0] | {value}, value))) if s.live[d] else s


def harden(s):
    return s._replace(disks=tuple((frozenset({value}), value) for _, value in s.disks))


def counted(s):
    """What the parities of the line have to be: never-written and poisoned blocks count as zeros."""
    return tuple(0 if e == POISONED else e for e in s.entries[:2])


def held(s, d):
    """Whether a block is known from its own position: it needs no reading, or it is as its entry says."""
    return s.entries[d] in (0, POISONED) or (s.live[d] and now(s, d) == s.entries[d])


def rebuilt(s, d):
    """Whether the others give what the entry of a block says: a parity with the other block, or two parities."""
    pairs = [now(s, c) for c in CHECKS if s.live[c] and not s.entries[2]]
    return counted(s) in pairs if held(s, 1 - d) else pairs == [counted(s)] * 2


def read(s, d):
    return s.entries[d] if s.entries[d] != POISONED and (held(s, d) or rebuilt(s, d)) else ERROR


def voided(s, count):
    """The oldest records are durably void."""
    flush = s.flush and (s.flush[0], max(0, s.flush[1] - count), s.flush[2])
    return s._replace(journal=s.journal[count:], void=s.void - count, flush=flush)


def cuts(s):
    """All states of the media after the power is gone."""
    journals = {s.journal} if s.coming is None else {s.journal, s.journal[s.coming[0]:] + (s.coming[1],)}
    media = set(itertools.product(itertools.product(*(values for values, _ in s.disks)), {s.log}))
    if s.flush:
        media = set(itertools.product({disks for disks, _ in media}, itertools.product(*zip(s.log, s.flush[0]))))
    if s.up in (REPLAYED, RESYNCED):      # the blocks are flushed and the entries are on their way
        media |= set(itertools.product({tuple(value for _, value in s.disks)}, itertools.product(*zip(s.log, s.entries))))
    excused = (2, 2) if s.hole or 2 in s.excused else s.excused
    for (disks, log), journal in itertools.product(media, journals):
        yield s._replace(disks=tuple((frozenset({value}), value) for value in disks), entries=log, log=log, journal=journal, void=0, coming=None, job=None,
                         flush=None, up=OPENED, hole=0, excused=excused, c=s.c + 1)


def steps(s, on):
    """Yields (name, state) of everything that may happen next."""
    writes, power_cuts = bounds(on)
    for d in DISKS if s.live.count(0) < PARITIES else ():
        if s.live[d]:
            yield f'disk {"ABPQ"[d]} is lost', s._replace(live=put(s.live, d, 0), disks=put(s.disks, d, (frozenset({None}), None)))
    if s.c < power_cuts and s.up != OPENED:
        for t in set(cuts(s)):
            yield 'power cut', t
    if s.c < power_cuts and s.up == SERVING and s.coming is None and s.job is None and len(s.journal) > 1:
        yield 'kill, newest record rotten', harden(s)._replace(
            log=s.entries, journal=() if 'end' in on else s.journal[:-1], void=0, flush=None, up=OPENED, hole=0, c=s.c + 1,
            history=tuple((e,) if e in values else values for e, values in zip(s.entries, s.history)))
    if s.up != SERVING:
        yield from opening(s, on)
        return
    if s.flush is None and s.f < FLUSHES:
        older = tuple(len(values) - 1 - (s.job is not None and s.job[d] is not None) for d, values in enumerate(s.history))
        yield 'capture', (harden(s) if 'blocks' in on else s)._replace(f=s.f + 1, flush=(s.entries, len(s.journal), older))
    if s.flush is not None:
        entries, ended, older = s.flush
        ended = max(s.void, ended if 'capture' in on else len(s.journal)) if 'keep' in on else s.void
        yield 'flush', (s if 'blocks' in on else harden(s))._replace(
            flush=None, log=entries, void=ended, history=tuple(values[n:] for values, n in zip(s.history, older)), hole=max(0, s.hole - 1))
    if s.coming is None:
        for count in range(1, s.void + 1):
            yield f'{count} durably void', voided(s, count)
        if s.w <= writes:
            yield from changes(s, on)
        return
    count, record = s.coming
    t = voided(s, count)
    t = t._replace(coming=None, journal=t.journal + (record,))
    if s.job is None:
        yield 'record durable', t
        return
    yield 'record durable, in place', done(t, s.job, on)
    if 'durable' not in on:
        yield 'in place', done(s, s.job, on)
    if 'redo' not in on:
        yield 'abandoned', t._replace(job=None, history=tuple(v if s.job[d] is None else v + (s.entries[d],) for d, v in enumerate(s.history)))


def changes(s, on):
    """Every change of the line that may begin. The value 0 unmaps."""
    v = s.w
    for kind in ((v, None), (None, v), (v, v), (0, None), (None, 0), (0, 0)):
        if (v == 1 and kind[A] is None) or all(value is None or value == s.entries[d] for d, value in enumerate(kind)):
            continue      # the mirror image of another one, or nothing to unmap
        after = tuple(value if value is not None else 0 if s.entries[d] == POISONED else read(s, d) for d, value in enumerate(kind))
        job = (*kind, int(ERROR in after))
        t = s._replace(w=v + 1, history=tuple(values if value is None else values + (value,) for values, value in zip(s.history, kind)))
        name = f'{"write" if v in kind else "unmap"} {"".join(n for n, value in zip("AB", kind) if value is not None)}'
        if kind == (v, v) and (all(s.live) or 'out' not in on):
            if not s.journal or 'gone' not in on:
                yield f'{name} without a record', done(t, job, on)._replace(hole=(2 if s.flush else 1) if all(s.live) else s.hole)
        elif ('record' if v in kind else 'line' if kind == (0, 0) else 'unmap') not in on:
            yield f'{name} without a record', done(t, job, on)
        else:
            record = (*job, after if 'parity' in on and ERROR not in after else None, 'data' in on)
            for count in range(max(0, len(s.journal) + 1 - RECORDS), s.void + 1):
                yield name, t._replace(job=job, coming=(count, record))


def done(s, job, on):
    """A change is in place and acknowledged. A cut may still leave any part of it."""
    s = s._replace(job=None, entries=(*(s.entries[d] if job[d] is None else job[d] for d in (A, B)), job[2]))
    for d in (A, B):
        s = s if job[d] is None else write(s, d, job[d] or GARBAGE)._replace(excused=put(s.excused, d, 0))
    for c in CHECKS if not job[2] else ():
        s = write(s, c, counted(s) if any(s.entries[:2]) else (GARBAGE, GARBAGE))
    return s._replace(hole=s.hole if None in job else 0, void=s.void if 'keep' in on else len(s.journal))


def opening(s, on):
    """The next step of an opening."""
    if s.up == OPENED:
        t = s
        for record in (s.journal if 'order' in on else s.journal[::-1]) if 'replay' in on else ():
            t = replayed(t, record)
        yield 'replayed', t._replace(up=REPLAYED)
    elif s.up in (REPLAYED, LOGGED):
        if s.up == REPLAYED:
            yield 'replay flushed', harden(s)._replace(up=LOGGED, log=s.entries)
        if 'resync' in on:
            yield 'resynced', resynced(s, on)._replace(up=RESYNCED)
        if 2 not in s.excused or 'resync' not in on:
            yield 'not dirty', s._replace(up=RESYNCED)
    elif s.up == RESYNCED:
        yield 'flushed', harden(s)._replace(up=CLEAN, log=s.entries)
    else:
        t = s._replace(journal=()) if 'void' in on else s._replace(void=len(s.journal))
        yield 'served', t._replace(up=SERVING, excused=tuple(int(s.excused[d] and read(s, d) == ERROR) for d in (A, B)),
                                   history=tuple((e,) if e in values else values for e, values in zip(s.entries, s.history)))


def replayed(s, record):
    *kind, poison, pair, data = record
    s = s._replace(entries=(*(s.entries[d] if kind[d] is None else kind[d] for d in (A, B)), poison))
    for d in (A, B):
        s = write(s, d, kind[d]) if kind[d] and data else s
    for c in CHECKS if pair is not None and any(pair) else ():
        s = write(s, c, pair)
    return s


def resynced(s, on):
    """What matches stays; what does not, or is out, is rebuilt if all of it can be. Else what is there is an unflushed write."""
    wrong = [d for d in (A, B) if not held(s, d)]
    if wrong and len(wrong) <= PARITIES and rebuilt(s, wrong[0]):
        for d in wrong:
            s = write(s, d, s.entries[d])
        wrong = []
    unknown = [d for d in wrong if not s.live[d]]
    for d in wrong:
        if d not in unknown or 'lost' in on:
            s = s._replace(entries=put(s.entries, d, POISONED if d in unknown else now(s, d)))
    poison = int(bool(unknown) and 'lost' not in on)
    for c in CHECKS if not poison and any(s.entries[:2]) else ():
        s = write(s, c, counted(s)) if now(s, c) != counted(s) else s
    return s._replace(entries=put(s.entries, 2, poison))


def wrong(s):
    """What a client could be told that is not true, or None."""
    for d in (A, B) if s.up == SERVING and s.job is None else ():
        value = read(s, d)
        if value == ERROR and not s.excused[d]:
            return f'block {"AB"[d]} reads as an error'
        if value not in (ERROR, *s.history[d]):
            return f'block {"AB"[d]} reads as {value}, allowed {sorted(set(s.history[d]))}'
    return None


def first(entry, block):
    disks = tuple((frozenset({value}), value) for value in (block, block) + ((block, block),) * PARITIES)
    return S(disks, (1,) * len(DISKS), (entry, entry, 0), (entry, entry, 0), (), 0, None, None, None, SERVING, ((entry,), (entry,)), 0, (0, 0), 1, 0, 0)


if __name__ == '__main__':
    sys.exit(check(RULES, [first(0, GARBAGE), first(9, 9)], steps, wrong))
