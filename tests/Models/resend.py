"""Requests of a mounted file system over the death of the host that serves it: one block of one disk, and two writes of a client that sends the second one when
the first is answered. A host reads a request from the kernel, writes to the disk, which may be late, and answers. It may be killed between any two steps, and
while the kernel copies its answer. The next host takes the connection over. A host may also close the disk and open it again.

A violation: a request is never answered, or fails; or the block does not hold the newest write that was answered.

Rules
  resend    the host that takes over asks for everything that was read and not answered
  held      it serves when no write of the dead host is under way to the disk: it waits for the locks of the members, which that has until then
  locked    an answer is copied from memory that is there: a kill in the middle of it leaves the request with the kernel
  closing   a store that is closing answers no request: the next session asks for it again
  owes      a session that left a request without an answer says so to the next one, also in the same process
"""
import sys

from explore import check

RULES = ['resend', 'held', 'locked', 'closing', 'owes']
KILLS, CLOSINGS = 2, 1
PENDING, READ, DONE, LOST, FAILED = 'pending', 'read', 'done', 'lost', 'failed'

# state: requests (state of write 1, of write 2; '' is not sent yet), block, writes under way to the disk as (write, is of a dead host),
#   host (alive, serving, set of requests in it as (write, has been written), asks again), kills left, closings left, answered writes in order
FIRST = [((PENDING, ''), 0, frozenset(), (True, True, frozenset(), False), KILLS, CLOSINGS, ())]


def with_(pair, index, value):
    return pair[:index] + (value,) + pair[index + 1:]


def steps(state, rules):
    sent, block, late, host, kills, closings, answered = state
    alive, serving, inside, asks = host

    if sent[0] == DONE and sent[1] == '':
        yield 'the client sends write 2', (with_(sent, 1, PENDING), block, late, host, kills, closings, answered)

    for write, is_dead in late:   # a write reaches the disk whenever it likes
        yield f'write {write} reaches the disk', (
            sent, write, late - {(write, is_dead)}, (alive, serving, frozenset((w, done or (w == write and not is_dead)) for w, done in inside), asks),
            kills, closings, answered)

    if alive and serving:
        if asks:
            again = tuple(PENDING if one == READ else one for one in sent) if 'resend' in rules else sent
            yield 'asks again', (again, block, late, (True, True, inside, False), kills, closings, answered)
        for index, one in enumerate(sent):
            if one == PENDING and not asks:
                write = index + 1
                yield f'reads write {write}', (
                    with_(sent, index, READ), block, late | {(write, False)}, (True, True, inside | {(write, False)}, False), kills, closings, answered)
        for write, done in inside:
            if done:
                after = (True, True, inside - {(write, True)}, asks)
                yield f'answers write {write}', (with_(sent, write - 1, DONE), block, late, after, kills, closings, answered + (write,))
                if kills and 'locked' not in rules:
                    yield f'is killed as it answers write {write}', (
                        with_(sent, write - 1, LOST), block, dead(late), (False, False, frozenset(), False), kills - 1, closings, answered)
        if closings:   # the disk is opened again by the same host; what is inside ends with an error of the closing store
            owes = bool(inside)
            if 'closing' in rules:
                yield 'closes and opens the disk', (
                    sent, block, late, (True, False, frozenset(), asks or (owes and 'owes' in rules)), kills, closings - 1, answered)
            else:
                failed = sent
                for write, _ in inside:
                    failed = with_(failed, write - 1, FAILED)
                yield 'closes and opens the disk', (failed, block, late, (True, False, frozenset(), asks), kills, closings - 1, answered)

    if alive and not serving and ('held' not in rules or not late):
        yield 'serves', (sent, block, late, (True, True, inside, asks), kills, closings, answered)

    if alive and kills:
        yield 'is killed', (sent, block, dead(late), (False, False, frozenset(), False), kills - 1, closings, answered)
    if not alive:
        yield 'the next host takes over', (sent, block, late, (True, False, frozenset(), True), kills, closings, answered)


def dead(late):
    return frozenset((write, True) for write, _ in late)


def wrong(state):
    sent, block, late, host, kills, closings, answered = state
    alive, serving, inside, asks = host
    for index, one in enumerate(sent):
        if one in (LOST, FAILED):
            return f'write {index + 1} is never answered' if one == LOST else f'write {index + 1} fails'
        if one == READ and alive and serving and not asks and not any(write == index + 1 for write, _ in inside):
            return f'write {index + 1} is never answered'
    if answered and not late and not any(done for _, done in inside) and block < answered[-1]:
        return f'write {answered[-1]} was answered, and the block holds {block}'
    return None


if __name__ == '__main__':
    sys.exit(check(RULES, FIRST, steps, wrong))
