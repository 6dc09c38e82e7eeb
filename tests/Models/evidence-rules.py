# Searches all worlds of evidence.cpp with all rules, which must give no violation. Then removes each rule and each half
# of a rule, one at a time, and prints a line for each: the rule, the world that notices its removal, the promise.
# The exit code is the number of unexpected results.
import re
import subprocess
import sys

WORLDS = {
    # one block, 1 to 3 copies
    "two copies": "copies=2 writes=2 zeroings=1 kills=1 cuts=1 flushes=2",
    "one copy": "copies=1 writes=2 zeroings=1 kills=2 cuts=1 flushes=2 writebacks=1",
    "one copy, never written": "copies=1 never=1 writes=2 kills=1 cuts=1 flushes=2 faults=1 rotCopy=1 moves=1",
    "one copy, rot of page and log":
        "copies=1 never=1 writes=1 zeroings=1 kills=1 cuts=1 flushes=1 faults=1 rotPage=1 rotLog=1",
    "rot of both copies": "copies=2 writes=1 neighbours=1 kills=1 cuts=2 faults=2 rotCopy=1",
    "rot of the only copy":
        "copies=1 writes=1 neighbours=1 moves=1 kills=1 cuts=2 faults=1 rotCopy=1 writebacks=1 flushes=1",
    "moves of zeroed blocks": "copies=1 writes=1 zeroings=1 moves=1 kills=1 cuts=1 flushes=1 neighbours=1",
    "disks leave": "copies=2 writes=2 kills=2 cuts=1 flushes=1 leaves=1 returns=1",
    "rot and failed writes": "copies=2 writes=2 kills=1 cuts=1 leaves=1 returns=1 faults=1 failWrite=1 flushes=1",
    "failed writes on one copy": "copies=1 writes=3 kills=1 cuts=1 flushes=1 faults=2 failWrite=1",
    "a disk leaves, rot":
        "copies=2 writes=1 neighbours=1 kills=2 cuts=1 flushes=1 leaves=1 returns=1 faults=1 rotCopy=1",
    "a disk leaves, two cuts, rot":
        "copies=2 writes=1 neighbours=1 kills=1 cuts=2 flushes=1 leaves=1 returns=1 faults=1 rotCopy=1",
    "disks leave twice, rot": "copies=2 writes=1 kills=1 cuts=1 flushes=1 leaves=2 returns=2 faults=1 rotCopy=1",
    "a disk leaves, older version": "copies=2 writes=2 kills=1 cuts=1 flushes=1 leaves=1 returns=1 faults=1 oldCopy=1",
    "a disk leaves, rot of pages":
        "copies=2 writes=1 zeroings=1 kills=1 flushes=1 leaves=1 returns=1 faults=1 rotPage=1 writebacks=2",
    "a disk leaves, rot of pages, a cut":
        "copies=2 writes=1 kills=1 cuts=1 flushes=1 leaves=1 returns=1 faults=1 rotPage=1 writebacks=1",
    "a disk leaves, rot of the log":
        "copies=2 writes=1 zeroings=1 kills=1 cuts=1 flushes=2 leaves=1 returns=1 faults=1 rotLog=1",
    "a disk leaves, rot of log and copy":
        "copies=2 writes=1 kills=1 cuts=1 flushes=1 leaves=1 returns=1 faults=2 rotCopy=1 rotLog=1",
    "a disk leaves, caches lost":
        "copies=2 writes=1 kills=1 cuts=1 faults=2 loseCache=1 flushes=1 leaves=1 returns=1 rotCopy=1",
    "opened anew, caches lost":
        "copies=1 writes=2 zeroings=1 flushes=1 reopenings=1 kills=1 faults=2 loseCache=1 rotCopy=1",
    "caches lost, records outlive their flush":
        "copies=1 writes=2 zeroings=1 flushes=1 reopenings=1 kills=1 faults=2 loseCache=1 rotCopy=1 recordsStay=1",
    "never written, a disk leaves":
        "copies=2 never=1 writes=1 zeroings=1 neighbours=1 kills=1 cuts=1 flushes=1 leaves=1 returns=1 "
        "faults=1 rotCopy=1",
    "moves":
        "copies=2 writes=1 neighbours=1 moves=1 kills=1 leaves=1 returns=1 faults=1 rotCopy=1 rotPage=1 "
        "writebacks=1 cuts=1 flushes=1",
    "retirement":
        "copies=2 writes=1 neighbours=1 retires=1 leaves=1 returns=1 faults=1 rotCopy=1 rotPage=1 rotLog=1 "
        "flushes=1 cuts=1 kills=1",
    "three copies": "copies=3 writes=1 flushes=1 kills=1 cuts=1 leaves=2 returns=1 faults=1 rotCopy=1",
    # a line of two data blocks with P, or with P and Q
    "line": "parity=1 stripes=1 flushes=1 kills=1 cuts=1 leaves=1 returns=1",
    "line, rot": "parity=1 stripes=1 flushes=1 kills=1 cuts=1 leaves=1 returns=1 faults=1",
    "line, rot, neighbour written":
        "parity=1 stripes=1 partials=1 flushes=1 kills=1 cuts=1 leaves=1 returns=1 faults=1",
    "line with Q": "parity=1 positions=4 stripes=1 flushes=1 kills=1 leaves=2 returns=1 faults=1",
    "line with Q, neighbour written": "parity=1 positions=4 partials=1 kills=1 cuts=1 leaves=2 returns=2 faults=2",
    # the ring of a write cache
    "ring": "ring=1 writes=2 flushes=2 kills=1 cuts=1 destages=1 leaves=1 returns=1",
    "ring, rot": "ring=1 writes=3 flushes=2 kills=1 cuts=1 destages=1 leaves=1 returns=1 faults=1 retires=1",
}

# Rule: what it says.
RULES = {
    "recordFirstWrites": "a first write is recorded",
    "recordOverwrites": "an overwrite is recorded",
    "recordZeroings": "an unmap or a zeroing is recorded",
    "acknowledgedMark": "an answered write has the acknowledged mark",
    "markBeforeAnswer": "the acknowledged mark is made before the answer leaves",
    "flushKeepsInFlight": "a flush round keeps the records of writes in flight",
    "flushKeepsLater": "a flush round keeps the records of writes that were acknowledged after it began",
    "zeroingProvesItself": "a zeroing is proven by its record; no older value counts beyond it",
    "memoryOnlyLegal": "with memory nothing but a legal value is adopted",
    "neverUndone": "with memory an acknowledged write is not undone by the logged value",
    "oldIsDurableEntry": "the logged value is the one below the durable end of the log, not one that is only appended",
    "lostCachesMakeOldLegal": "after lost disk caches the logged value is legal too",
    "entryEndsOlder": "... and a recorded write that the logged value names ends what is older",
    "lostCachesOfEveryCopy": "... only if every current copy was opened anew and none is away",
    "adoptOnlyDirty": "after a power cut: adoption only in dirty regions",
    "adoptOnlyWithoutLogged": "... only if no copy and no reconstruction gives the logged value",
    "adoptOnlyKnownEntry": "... only if the entry is known",
    "adoptNeverMarked": "... never of a block with a lost mark",
    "adoptNeverStale": "... never from a stale copy",
    "adoptNeverOverZeros": "... never where the entry says never written",
    "unresolvedStaysCut": "what a power cut left unresolved keeps these rules through a kill of the opening",
    "undecidedStaysUnresolved": "... and while the entry is unknown or no current copy is there",
    "retireKeepsDoubt": "automatic retirement keeps the slab of a block in doubt",
    "retireReadsLog": "... and keeps a copy of the log or the ring until the others are read back",
    "unknownNotWritten": "a page writeback does not turn an unknown entry into a lost one",
    "askCopy": "a disk that is back is asked for its copy before it is resynced",
    "askLog": "... and for its copy of the log or the ring",
    "doubtStaysStale": "a resync that has no source keeps the stale mark while a disk is away",
    "lastCopyNeverStale": "the last current copy never becomes stale",
    "resyncFlushesLog": "a resync flushes the log before the stale mark is cleared",
    "resyncMakesMarkDurable": "... and makes a lost mark durable",
    "markBeforeError": "the lost mark is durable before the error is answered, in a dirty region",
    "markBeforeErrorInClean": "... in a clean region",
    "unknownErrorMarked": "... also over an unknown entry, unless the block is unresolved since a power cut",
    "markBeforeDirty": "... or before the next dirty mark of the region",
    "lostKeepsEntry": "a lost mark keeps the entry",
    "lostKeepsLegal": "a lost mark keeps every legal value",
    "oldLegalWhenAllThere": "after a power cut the logged value of a lost block is legal again when no disk is away",
    "flushEndsOldLegal": "... but not after a flush that was answered",
    "moveWritesMark": "a move writes the lost mark",
    "moveNeverForeign": "a move never leaves what lay at the target",
    "moveKeepsBytes": "a move copies the bytes of a lost block as they are",
    "moveFlushesLog": "a move flushes the log before it is committed",
    "knownBeforeUnknown": "a known entry of another copy goes before an unknown one, whatever the sequence",
    "missedPagesCountNot": "... unless that copy missed a page writeback",
    "statedOnDisk": "a log or ring that ends below the end stated on the disks is damaged",
    "statedInMemory": "a log or ring that ends below the end stated in the memory is damaged",
    "behindHoleCounts": "records behind a hole count",
    "failedRecordLives": "the record of a failed write lives until it is settled",
    "allFailedRecords": "every failed write keeps a record, not only the newest",
    "writeAllCopies": "opening: the choice is written to all copies",
    "flushBeforeEntry": "opening: it is flushed before its entry is logged",
    "entryLogged": "opening: its entry is logged",
    "flushBeforeServing": "opening: the log is flushed before it serves",
    "recordsEndLast": "opening: the records end only then",
    "firstInTwoRounds": "the flush of a first write flushes the data before it logs the entry",
    "overLostInTwoRounds": "the flush of a write over a lost block does the same",
    "reconstructionProves": "a reconstruction that has a legal value proves it",
    "provenBlocksCount": "what is proven of one block of a line counts for the next",
    "reconstructFirst": "what can be reconstructed is, before parity is overwritten",
    "parityKeptInDoubt": "opening: the old parity stays while a block of the line is in doubt",
    "ringWaitsForDoubt": "destage: so does it, and the ring keeps the write of the neighbour, while a strip is away",
    "tailStopsAtDamage": "the tail of the ring does not pass a damaged record",
}

# Rules whose removal no world notices, and why.
COVERED = {"markBeforeDirty": "covered by markBeforeError, markBeforeErrorInClean and resyncMakesMarkDurable"}


def run(world, removed=None):
    arguments = ["nice", "-n", "10", "./evidence", "trace=0", *world.split()]
    if removed:
        arguments.append(removed + "=0")
    output = subprocess.run(arguments, capture_output=True, text=True, check=False).stdout
    states = int(re.search(r"states (\d+)", output).group(1))
    violation = re.search(r"VIOLATION: (.*)", output)
    if "CAPPED" in output:
        return states, "the search was cut short"
    return states, violation.group(1) if violation else ""


def check_all_rules():
    unexpected, total = 0, 0
    for name, world in WORLDS.items():
        states, violation = run(world)
        total += states
        unexpected += violation != ""
        print(f"{states:9d}  {name}: {violation or 'no violation'}", flush=True)
    print(f"{total:9d}  states in {len(WORLDS)} worlds with all rules\n", flush=True)
    return unexpected


def check_without(rule):
    for name, world in WORLDS.items():
        states, violation = run(world, rule)
        if violation:
            print(f"{rule} ({RULES[rule]}) | {name}, {states} states: {violation}", flush=True)
            return rule in COVERED
    print(f"{rule} ({RULES[rule]}) | not noticed: {COVERED.get(rule, 'UNEXPECTED')}", flush=True)
    return rule not in COVERED


if __name__ == "__main__":
    known = set(re.findall(r"RULE\((\w{3,})\)", open("evidence-rules.h", encoding="utf-8").read())) - {"name"}
    if known != set(RULES):
        sys.exit(f"rules without a line here, or without a switch: {known ^ set(RULES)}")
    unexpected = check_all_rules()
    unexpected += sum(check_without(rule) for rule in RULES)
    print(f"\n{unexpected} unexpected")
    sys.exit(unexpected)
