"""The lease of a pool: two hosts that reach one disk, each of which may pause between any two steps, and whose writes may arrive late.

Time goes in ticks, the same for both; all that counts is how long a host has waited by it. A host that opens the pool looks at the disk, watches, claims, waits,
reads back, writes its session, reads back, and serves while its lease runs. A violation: both serve at once.

Without the rule "early" the search finds nothing: "still" and "read" cover it as long as claims of two hosts never meet in one place.

Rules
  own       a host opens at once only what it held last, with no claim of the other since
  closed    a pool that was not closed is watched before it is claimed
  still     a change while it is watched, or while the claim is awaited, begins the watch again
  early     a claim that reached the disk late is void
  wait      a claim is awaited longer than a write of the other may be under way
  claim     a claim counts only if no higher one, and no equal one of the lower host, is there
  read      a session counts only if it is read back and no higher session or claim is there
  before    the lease runs from before the write of the renewal
  stop      a holder that sees a higher session or claim stops
  short     a holder that reads without having written serves on no longer than a claim is awaited
"""
import sys

from explore import check

RULES = ['own', 'closed', 'still', 'early', 'wait', 'claim', 'read', 'before', 'stop', 'short']
FORCED = ('early',)
LEASE, MARGIN, LATE = 4, 1, 1
SILENCE, WAIT, READ = LEASE + MARGIN, LATE + MARGIN, LATE
END = int(sys.argv[1]) if len(sys.argv) > 1 else 8
OPENINGS, RENEWALS, KILLS = 2, 2, 1

# state: time, disk, hosts
#   disk: for each host (session, counter, is closed, claim of the other that it has read) and the session that it claims
#   host: mode, time, what was seen, session, openings left, renewals left, kills left, write under way, claim of the other as it was last read
OFF, WATCH, CLAIM, AWAIT, OPEN, HOLD = 'off', 'watch', 'claim', 'await', 'open', 'hold'
FRESH = (OFF, 0, None, 0, OPENINGS, RENEWALS, KILLS, None, 0)
FIRST = [(0, (((1, 1, True, 0), 0), ((0, 0, True, 0), 0)), (FRESH, FRESH))]


def steps(state, rules):
    now, disk, hosts = state
    if now < END:
        yield 'tick', (now + 1, disk, hosts)
    for me in (0, 1):
        for name, after_disk, after_host in moves(now, disk, hosts[me], me, rules):
            both = (after_host, hosts[1]) if me == 0 else (hosts[0], after_host)
            yield f'{"AB"[me]} {name}', (now, after_disk, both)


def moves(now, disk, host, me, rules):
    mode, since, seen, session, openings, renewals, kills, write, read = host
    blocks, claims = [part[0] for part in disk], [part[1] for part in disk]
    other = 1 - me
    top = max((0, 1), key=lambda one: blocks[one][0])
    highest = max(blocks[0][0], blocks[1][0], *claims)

    def changed(**parts):
        fields = dict(mode=mode, since=since, seen=seen, session=session, openings=openings, renewals=renewals, kills=kills, write=write, read=read)
        fields.update(parts)
        return tuple(fields[key] for key in ('mode', 'since', 'seen', 'session', 'openings', 'renewals', 'kills', 'write', 'read'))

    def written(block=None, claim=None):
        mine = (block or blocks[me], claims[me] if claim is None else claim)
        return (mine, disk[1]) if me == 0 else (disk[0], mine)

    def is_above(own, by_claims):
        return blocks[other][0] >= own or (by_claims and (claims[other] > own or (claims[other] == own and other < me)))

    off = changed(mode=OFF, since=0, seen=None, session=0, write=None, read=0)
    if mode == OFF and openings:
        begun = dict(openings=openings - 1, renewals=RENEWALS)
        if top == me and (claims[other] == blocks[me][3] or 'own' not in rules):
            yield 'opens its own', disk, changed(
                mode=OPEN, since=now, seen=claims[other], session=highest + 1, write=(highest + 1, 1, False, claims[other]), **begun)
        else:
            if 'own' not in rules:
                yield 'opens at once', disk, changed(
                    mode=OPEN, since=now, seen=claims[other], session=highest + 1, write=(highest + 1, 1, False, claims[other]), **begun)
            if blocks[top][2] or 'closed' not in rules:
                yield 'claims', disk, changed(mode=CLAIM, since=now, seen=tuple(blocks), session=highest + 1, write=highest + 1, **begun)
            else:
                yield 'watches', disk, changed(mode=WATCH, since=now, seen=tuple(blocks), **begun)
    elif mode == WATCH:
        if tuple(blocks) != seen and 'still' in rules:
            yield 'sees a change', disk, changed(since=now, seen=tuple(blocks))
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
            lost = (tuple(blocks) != seen and 'still' in rules) or blocks[other][0] >= session or (is_above(session, True) and 'claim' in rules)
            yield ('gives way', disk, off) if lost else (
                'opens', disk, changed(mode=OPEN, since=now, seen=claims[other], write=(session, 1, False, claims[other])))
    elif mode == OPEN:
        if write is not None:
            yield 'session arrives', written(block=write), changed(write=None)
        elif is_above(session, True) and 'read' in rules:
            yield 'gives way', disk, off
        else:
            yield 'serves', disk, changed(mode=HOLD, since=(since if 'before' in rules else now) + LEASE, seen=None, read=claims[other])
    elif mode == HOLD:
        if write is not None:
            yield 'renewal arrives', written(block=write[1]), changed(write=None, seen=write[0])
        elif seen is not None:
            if (blocks[other][0] >= session or claims[other] > session) and 'stop' in rules:
                yield 'stops', disk, off
            else:
                yield 'has renewed', disk, changed(since=(seen if 'before' in rules else now) + LEASE, seen=None, read=claims[other])
        else:
            if renewals:
                yield 'renews', disk, changed(write=(now, (session, blocks[me][1] + 1, False, read)), renewals=renewals - 1)
            if blocks[other][0] < session and claims[other] <= session:
                yield 'reads', disk, changed(since=max(since, now + (READ if 'short' in rules else LEASE)), read=claims[other])
            yield 'closes', written(block=(session, blocks[me][1] + 1, True, read)), off
    if mode == HOLD and kills:
        yield 'is killed', disk if write is None else written(block=write[1]), off[:6] + (kills - 1, None, 0)
        yield 'is killed, its write is lost', disk, off[:6] + (kills - 1, None, 0)


def wrong(state):
    now, _, hosts = state
    return 'both serve' if all(host[0] == HOLD and host[1] > now for host in hosts) else None


if __name__ == '__main__':
    sys.exit(check(RULES, FIRST, steps, wrong, FORCED))
