// Model: what recovery may conclude about a block, and when a conclusion may be made durable.
//
// Three kinds of world, each gone through breadth first over all states:
//   evidence-mirror.h   one block with 1 to 3 copies, pages, integrity log, moves, retirement
//   evidence-parity.h   one line of two data blocks with P, or with P and Q (parity=1)
//   evidence-ring.h     the ring of a write cache on two disks (ring=1)
//
// Faults and events, in every order within the bounds of a world: rot of a copy, of a sector of a page, of a log or
// ring record; an older version in the place of a copy; a failed write; lost disk caches; disks that leave and return
// while the pool serves or is closed; kill of the process; reopening by the same process; power cut with any subset of
// the unflushed writes, also during an opening; move; resync; automatic retirement of a disk that is away.
//
// What is promised:
//   1. A read gives a legal value or an error. With memory (the process died, the machine lives) legal are the newest
//      acknowledged value and the later writes that were in flight or failed. After a power cut legal are the flushed
//      value and all later writes and, in a dirty region where nothing that is there gives the logged value, what one
//      current copy holds.
//   2. A value that an opening serves is final: neither a second crash nor a missing disk changes it.
//   3. A lost block gets a value again only by a write, a disk that came back, or lost disk caches.
//   4. No step of the engine destroys the last copy, on disks that are there or away, that gives a legal value.
//   5. The bytes of a former owner are never read.
//   6. Without a planted fault there is no error: not after kills, power cuts and reopenings, and not with as many
//   disks
//      away or stale as the layout bears. The same after the block was written anew and flushed.
//   7. With no more planted faults than the layout bears, all disks back and resynced, and a legal value on one of
//   them,
//      there is no error.
// Promise 7 does not hold where a fault has destroyed the last right copy, where a lost block was overwritten without a
// flush, or where a power cut brings back a value that no entry and no record knows (an older unflushed write; a flush
// without an answer).
//
// Not modelled: sectors (a block is written as a whole, or torn with torn=1), whose memory it is, a flush that fails,
// lost marks of several blocks in one sector, commands that give a block up, virtual disks without checksums.
#include "evidence-mirror.h"
#include "evidence-parity.h"
#include "evidence-ring.h"

int main(int count, char** arguments) {
    parse(count, arguments);
    ReadRules();
    if (opt("parity", 0)) return parity::Run();
    return opt("ring", 0) ? ring::Run() : mirror::Run();
}
