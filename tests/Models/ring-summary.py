"""The ring of a write cache with summaries: one copy, records of one block, a summary of the records since the last one, anchors that name the tail and the newest
summary. Rounds of destaging and summaries both write anchors. The power fails at any step: of what was not flushed any part arrives. The opening takes the records that
summaries repeat without reading them, and reads the rest.

A violation: the opening takes a record that is not whole in the ring, leaves out one that was flushed and not destaged, or takes another one than was written.

Rules
  durable   an anchor names a summary only when that and all records before it are flushed
  order     anchors are written one after another: the one for a summary states the tail that the newest anchor states, not one from before that
  free      room is used again only when the anchor that gives it free is flushed
  link      a summary is used only where the records that it repeats continue the chain
  left      a summary that is not whole is left out, and the records are read
  behind    what follows the newest summary is read
"""
import itertools
import sys

from explore import check

RULES = ['durable', 'order', 'free', 'link', 'left', 'behind']
LENGTH, APPENDS, CUTS, EVERY = 4, 7, 1, 2

# Ring: a tuple of blocks (content, flushed content): what a reader sees, and what a power cut cannot take. A content is (position, serial, covered) with
# covered None for a record and the tuple of (position, serial) of a summary. Serials tell a record from an abandoned one at the same position.
# Anchors: (content, flushed contents that may be found): a content is (number, tail, named) with named the (position, serial) of a summary or None.
# State: ring, anchors pending, anchor durable, memory (tail, durable, head, since, newest, anchored, waiting), serial, appends left, cuts left, truth, opened
EMPTY = (None, None)


def first():
    memory = (0, 0, 0, (), None, 0, None, None)
    return [((EMPTY,) * LENGTH, (), (1, 0, None), memory, 1, APPENDS, CUTS, (), None)]


def steps(state, rules):
    ring, pending, anchor, memory, serial, appends, cuts, truth, wrong = state
    if wrong:
        return
    tail, durable, head, since, newest, anchored, round_, publishing = memory
    if appends and head < tail + LENGTH:
        yield 'a record is written', (
            put(ring, head, (head, serial, None)), pending, anchor, (tail, durable, head + 1, since + ((head, serial),), newest, anchored, round_, publishing),
            serial + 1, appends - 1, cuts, truth + ((head, serial),), None)
    if len(since) >= EVERY and head < tail + LENGTH:
        yield 'a summary is written', (
            put(ring, head, (head, serial, since)), pending, anchor, (tail, durable, head + 1, (), (head, serial), anchored, round_, publishing),
            serial + 1, appends, cuts, truth + ((head, serial),), None)
    if durable < head:
        yield 'the ring is flushed', (
            tuple((now, now) for now, _ in ring), (), pending[-1] if pending else anchor,
            (tail, head, head, since, newest, anchored, round_, publishing), serial, appends, cuts, truth, None)

    if publishing is None and newest and newest[0] >= tail and 'order' not in rules:
        yield 'a summary is about to be named', (ring, pending, anchor, memory[:7] + (tail,), serial, appends, cuts, truth, None)
    named = newest if newest and ('durable' not in rules or newest[0] < durable) else None
    number = (pending[-1] if pending else anchor)[0] + 1
    if number < 7 and named and (publishing is not None or 'order' in rules):
        stated = anchored if 'order' in rules else publishing
        yield 'an anchor names a summary', (
            ring, pending + ((number, stated, named),), anchor, memory[:7] + (None,), serial, appends, cuts, truth, None)
    if number < 7 and round_ is None and durable > tail:
        yield 'a round of destaging writes its anchor', (
            ring, pending + ((number, tail + 1, named),), anchor, (tail, durable, head, since, newest, tail + 1, tail + 1, publishing),
            serial, appends, cuts, truth, None)
    if round_ is not None and ('free' not in rules or not pending):
        yield 'the round frees its room', (
            ring, pending, anchor, (round_, durable, head, since, newest, anchored, None, publishing), serial, appends, cuts,
            tuple(one for one in truth if one[0] >= round_), None)
    if pending:
        yield 'the anchors are flushed', (ring, (), pending[-1], memory, serial, appends, cuts, truth, None)

    if cuts:
        for kept in itertools.product((0, 1), repeat=sum(now != safe for now, safe in ring)):
            choice = iter(kept)
            after = tuple((now if now == safe or next(choice) else safe,) * 2 for now, safe in ring)
            for found in (anchor,) + pending:
                yield 'the power fails', opened(after, found, durable, serial, appends, cuts - 1, truth, rules)


def put(ring, position, content):
    at = position % LENGTH
    return ring[:at] + ((content, ring[at][1]),) + ring[at + 1:]


def opened(ring, anchor, durable, serial, appends, cuts, truth, rules):
    number, tail, named = anchor
    written = dict(truth)
    taken, at, newest, since = [], tail, None, ()
    summary = ring[named[0] % LENGTH][0] if named else None
    whole = summary is not None and (summary[0], summary[1]) == named
    if named and not whole and 'left' not in rules:
        return (ring, (), anchor, None, serial, appends, cuts, truth, 'the opening ends at a summary that is not there')
    if whole and summary[2] and named[0] >= tail:
        covered = [one for one in summary[2] if one[0] >= tail]
        begin = covered[0][0] if covered else named[0]
        if 'link' in rules:
            at = walk(ring, at, begin, written, taken)
        if at == begin or 'link' not in rules:
            taken += covered + [named]
            at, newest = named[0] + 1, named
    if 'behind' in rules:
        at = walk(ring, at, tail + LENGTH, written, taken)
    wrong = None
    for position, one in taken:
        content = ring[position % LENGTH][0]
        if content is None or (content[0], content[1]) != (position, one):
            wrong = wrong or f'a record at {position} is taken that is not in the ring'
    have = dict(taken)
    for position, one in truth:
        if tail <= position < durable and have.get(position) != one:
            wrong = wrong or f'the record at {position} was flushed and is not taken'
    if wrong:
        return (ring, (), anchor, None, serial, appends, cuts, truth, wrong)
    for position, one in taken:
        content = ring[position % LENGTH][0]
        since = () if content[2] is not None else since + ((position, one),)
        newest = (position, one) if content[2] is not None else newest
    memory = (tail, at, at, since, newest, tail, None, None)
    return (ring, (), anchor, memory, serial, appends, cuts, tuple(sorted(have.items())), None)


def walk(ring, at, end, written, taken):
    """Reads records one after another as long as they are those of the chain; a chain is told from an abandoned one by its checksums, here by what was written."""
    while at < end:
        content = ring[at % LENGTH][0]
        if content is None or content[0] != at or written.get(at) != content[1]:
            break
        taken.append((at, content[1]))
        at += 1
    return at


def wrong(state):
    return state[8]


if __name__ == '__main__':
    sys.exit(check(RULES, first(), steps, wrong))
