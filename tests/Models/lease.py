"""The lease of a pool: two hosts that reach one disk, each of which may pause between any two steps, and whose writes may arrive late.

Time goes in ticks, the same for both; all that counts is how long a host has waited by it. A host that opens the pool looks at the disk, watches, claims, waits,
reads back, writes its session, reads back, and serves while its lease runs. A violation: both serve at once.

Without the rule "early" the search finds nothing: "still" and "read" cover it as long as claims of two hosts never meet in one place.

Rules
  own       a host opens at once only what it held last, with no claim since
  closed    a pool that was not closed is watched before it is claimed
  still     a change while it is watched, or while the claim is awaited, begins the watch again
  early     a claim that reached the disk late is void
  wait      a claim is awaited longer than a write of the other may be under way
  claim     a claim counts only if no higher one, and no equal one of the lower host, is there
  read      a session counts only if it is read back and no higher session or claim is there
  before    the lease runs from before the write of the renewal
  stop      a holder that sees a higher session or claim stops
  short     a holder that reads without having written serves on no longer than a claim is awaited

With the argument "rot" one block of the disk, a session or a claim, is damaged at any time, and a holder blanks what it finds damaged, also late.

  promised  a host opens its own only where the disk has promised to no later session
  back      claim and session count only if they are read back whole, and the session of the other has not been damaged meanwhile
  whose     a damaged session is that of the host only where no claim of the other is as high as what the disk has promised to
  watch     beside a damaged block it watches before it opens its own
"""
import sys

from explore import check

ROT = 'rot' in sys.argv
RULES = ['promised', 'whose', 'watch', 'back'] if ROT else ['own', 'closed', 'still', 'early', 'wait', 'claim', 'read', 'before', 'stop', 'short']
OTHERS = ['own', 'closed', 'still', 'early', 'wait', 'claim', 'read', 'before', 'stop', 'short'] if ROT else ['promised', 'whose', 'watch', 'back']
FORCED = ('early',)
LEASE, MARGIN, LATE = 4, 1, 1
SILENCE, WAIT, READ = LEASE + MARGIN, LATE + MARGIN, LATE
END = next((int(word) for word in sys.argv[1:] if word.isdigit()), 8)
OPENINGS, RENEWALS, KILLS = 2, 1 if ROT else 2, 1
TORN = -1
NONE = (0, 0)
BLANK = (0, 0, True, NONE)

# state: time, disk, hosts
#   disk: for each host (session, counter that no other opening has, is closed, the claims that it has read) and the session that it claims; the session promised, faults left
#   host: mode, time, what was seen, session, openings left, renewals left, kills left, write under way, the claims as they were last read
OFF, WATCH, CLAIM, AWAIT, OPEN, HOLD = 'off', 'watch', 'claim', 'await', 'open', 'hold'
FRESH = (OFF, 0, None, 0, OPENINGS, RENEWALS, KILLS, None, NONE)
FIRST = [(0, (((1, 1, True, NONE), 0), (BLANK, 0), 1, int(ROT)), (FRESH, FRESH))]


def steps(state, rules):
    now, disk, hosts = state
    if now < END:
        yield 'tick', (now + 1, disk, hosts)
    for one in (0, 1) if disk[3] else ():
        block, claim = disk[one]
        for what, damaged in (('session', ((TORN, block[1], True, NONE), claim)), ('claim', (block, TORN))):
            if (block if what == 'session' else claim) not in (BLANK, 0):
                parts = (damaged, disk[1]) if one == 0 else (disk[0], damaged)
                yield f'the {what} of {"AB"[one]} is damaged', (now, (*parts, disk[2], 0), hosts)
    for me in (0, 1):
        for name, after_disk, after_host in moves(now, disk, hosts[me], me, rules):
            both = (after_host, hosts[1]) if me == 0 else (hosts[0], after_host)
            yield f'{"AB"[me]} {name}', (now, after_disk, both)


def moves(now, disk, host, me, rules):
    mode, since, seen, session, openings, renewals, kills, write, read = host
    blocks, claims = [part[0] for part in disk[:2]], [part[1] for part in disk[:2]]
    other = 1 - me
    top = max((0, 1), key=lambda one: blocks[one][0])
    highest = max(blocks[0][0], blocks[1][0], *claims, disk[2])
    is_torn = TORN in (blocks[0][0], blocks[1][0])
    is_own = top == me and blocks[me][0] > 0 and (blocks[me][0] >= disk[2] or 'promised' not in rules)
    is_own |= blocks[me][0] == TORN and TORN not in claims and blocks[other][0] < disk[2] and (claims[other] < disk[2] or 'whose' not in rules)
    has_claims = tuple(claims) == blocks[me][3]
    may_watch = has_claims or blocks[me][0] == TORN or (TORN in claims and claims[other] <= blocks[me][0])   # a damaged claim is awaited like one that is never carried out

    def changed(**parts):
        fields = dict(mode=mode, since=since, seen=seen, session=session, openings=openings, renewals=renewals, kills=kills, write=write, read=read)
        fields.update(parts)
        return tuple(fields[key] for key in ('mode', 'since', 'seen', 'session', 'openings', 'renewals', 'kills', 'write', 'read'))

    def written(block=None, claim=None):
        mine = (block or blocks[me], claims[me] if claim is None else claim)
        return (mine, *disk[1:]) if me == 0 else (disk[0], mine, *disk[2:])

    def blanked(what):
        parts = list(disk[:2])
        if what == 'claim':
            parts[other] = (parts[other][0], 0)
        else:
            parts[other] = (BLANK, parts[other][1])
        return (*parts, *disk[2:])

    def is_above(own, by_claims):
        return blocks[other][0] >= own or (by_claims and (claims[other] > own or (claims[other] == own and other < me)))

    off = changed(mode=OFF, since=0, seen=None, session=0, write=None, read=NONE)
    if mode == OFF and openings:
        begun = dict(openings=openings - 1, renewals=RENEWALS)
        if is_own and (is_torn or TORN in claims) and may_watch and 'watch' in rules:
            yield 'watches its own', disk, changed(mode=WATCH, since=now, seen=tuple(blocks), session=TORN, **begun)
        elif is_own and (has_claims or (TORN in claims and 'watch' not in rules) or 'own' not in rules):
            yield 'opens its own', disk, changed(
                mode=OPEN, since=now, seen=(blocks[other][0] == TORN, False), session=highest + 1, write=(highest + 1, 10 * openings, False, tuple(claims)), **begun)
        else:
            if 'own' not in rules:
                yield 'opens at once', disk, changed(
                    mode=OPEN, since=now, seen=(blocks[other][0] == TORN, False), session=highest + 1, write=(highest + 1, 10 * openings, False, tuple(claims)), **begun)
            if (blocks[top][2] and TORN not in (*claims, blocks[0][0], blocks[1][0]) and blocks[top][0] >= disk[2]) or 'closed' not in rules:
                yield 'claims', disk, changed(mode=CLAIM, since=now, seen=tuple(blocks), session=highest + 1, write=highest + 1, **begun)
            else:
                yield 'watches', disk, changed(mode=WATCH, since=now, seen=tuple(blocks), **begun)
    elif mode == WATCH:
        if tuple(blocks) != seen and 'still' in rules:
            yield 'sees a change', disk, changed(since=now, seen=tuple(blocks))
        elif now - since >= SILENCE and session == TORN and is_own and may_watch:
            yield 'opens its own', disk, changed(
                mode=OPEN, since=now, seen=(blocks[other][0] == TORN, False), session=highest + 1, write=(highest + 1, 10 * openings, False, tuple(claims)))
        elif now - since >= SILENCE:
            yield 'claims', disk, changed(mode=CLAIM, since=now, seen=tuple(blocks), session=highest + 1, write=highest + 1)
    elif mode == CLAIM:
        if write is not None:
            yield 'claim arrives', written(claim=write), changed(write=None)
        elif now - since < LATE or 'early' not in rules:
            yield 'awaits', disk, changed(mode=AWAIT, since=now)
        else:
            yield 'is too late', disk, off
    elif mode == AWAIT:
        if now - since >= WAIT or 'wait' not in rules:
            lost = (tuple(blocks) != seen and 'still' in rules) or (claims[me] != session and 'back' in rules) or blocks[other][0] >= session or (is_above(session, True) and 'claim' in rules)
            yield ('gives way', disk, off) if lost else (
                'opens', disk, changed(mode=OPEN, since=now, seen=(blocks[other][0] == TORN, True), write=(session, 10 * openings, False, tuple(claims))))
    elif mode == OPEN:
        if write is not None:
            yield 'session arrives', written(block=write), changed(write=None)
        elif (is_above(session, True) and 'read' in rules) or (
                (blocks[me][0] != session or (blocks[other][0] == TORN and not seen[0]) or (seen[1] and claims[me] != session)) and 'back' in rules):
            yield 'gives way', disk, off
        else:
            yield 'serves', (*disk[:2], max(disk[2], session), disk[3]), changed(mode=HOLD, since=(since if 'before' in rules else now) + LEASE, seen=None, read=tuple(claims))
    elif mode == HOLD:
        if write is not None and write[0] == 'blank':
            yield 'blanks', blanked(write[1]), changed(write=None)
        elif write is not None:
            yield 'renewal arrives', written(block=write[1]), changed(write=None, seen=write[0])
        elif seen is not None:
            if (blocks[other][0] >= session or claims[other] > session) and 'stop' in rules:
                yield 'stops', disk, off
            else:
                yield 'has renewed', disk, changed(since=(seen if 'before' in rules else now) + LEASE, seen=None, read=tuple(claims))
        else:
            if renewals:
                yield 'renews', disk, changed(write=(now, (session, blocks[me][1] + 1, False, read)), renewals=renewals - 1)
            if blocks[other][0] < session and claims[other] <= session:
                yield 'reads', disk, changed(since=max(since, now + (READ if 'short' in rules else LEASE)), read=tuple(claims))
            for what, damaged in (('session', blocks[other][0]), ('claim', claims[other])):
                if damaged == TORN:
                    yield f'finds the damaged {what}', disk, changed(write=('blank', what))
            yield 'closes', written(block=(session, blocks[me][1] + 1, True, read)), off
    if mode == HOLD and kills:
        arrived = disk if write is None else blanked(write[1]) if write[0] == 'blank' else written(block=write[1])
        yield 'is killed', arrived, off[:6] + (kills - 1, None, NONE)
        yield 'is killed, its write is lost', disk, off[:6] + (kills - 1, None, NONE)


def wrong(state):
    now, _, hosts = state
    return 'both serve' if all(host[0] == HOLD and host[1] > now for host in hosts) else None


if __name__ == '__main__':
    sys.exit(check(RULES, FIRST, lambda state, rules: steps(state, rules | set(OTHERS)), wrong, FORCED))
