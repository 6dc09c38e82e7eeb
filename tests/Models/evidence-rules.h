// The rules of evidence as switches. A rule is on unless the command line has NAME=0. evidence-rules.py says what
// each rule means.
#pragma once
#include "bfs.h"

#define EVIDENCE_RULES(RULE) \
    RULE(recordFirstWrites) RULE(recordOverwrites) RULE(recordZeroings) RULE(acknowledgedMark) RULE(markBeforeAnswer) \
    RULE(flushKeepsInFlight) RULE(flushKeepsLater) RULE(zeroingProvesItself) RULE(memoryOnlyLegal) RULE(neverUndone) \
    RULE(lostCachesMakeOldLegal) RULE(lostCachesOfEveryCopy) RULE(adoptOnlyDirty) RULE(adoptOnlyWithoutLogged) \
    RULE(adoptOnlyKnownEntry) RULE(adoptNeverMarked) RULE(adoptNeverStale) RULE(adoptNeverOverZeros) \
    RULE(unresolvedStaysCut) RULE(retireKeepsDoubt) RULE(retireReadsLog) RULE(unknownNotWritten) RULE(askCopy) \
    RULE(askLog) RULE(markBeforeError) RULE(markBeforeErrorInClean) RULE(markBeforeDirty) RULE(lostKeepsEntry) \
    RULE(lostKeepsLegal) RULE(oldLegalWhenAllThere) RULE(moveWritesMark) RULE(moveNeverForeign) RULE(moveKeepsBytes) \
    RULE(moveFlushesLog) RULE(knownBeforeUnknown) RULE(missedPagesCountNot) RULE(statedOnDisk) RULE(statedInMemory) \
    RULE(behindHoleCounts) RULE(failedRecordLives) RULE(allFailedRecords) RULE(writeAllCopies) RULE(flushBeforeEntry) \
    RULE(entryLogged) RULE(flushBeforeServing) RULE(recordsEndLast) RULE(undecidedStaysUnresolved) \
    RULE(flushEndsOldLegal) RULE(oldIsDurableEntry) RULE(lastCopyNeverStale) RULE(doubtStaysStale) \
    RULE(resyncFlushesLog) RULE(resyncMakesMarkDurable) RULE(firstInTwoRounds) RULE(overLostInTwoRounds) \
    RULE(reconstructionProves) RULE(provenBlocksCount) RULE(reconstructFirst) RULE(parityKeptInDoubt) \
    RULE(ringWaitsForDoubt) RULE(tailStopsAtDamage) RULE(entryEndsOlder) \
    RULE(unknownErrorMarked)

struct Rules {
#define DECLARE(name) bool name = true;
    EVIDENCE_RULES(DECLARE)
#undef DECLARE
};

inline Rules R;

inline void ReadRules() {
#define READ(name) R.name = opt(#name, 1) != 0;
    EVIDENCE_RULES(READ)
#undef READ
}
