// World "mirror" of evidence.cpp: one block with 1 to 3 copies. Its neighbour only makes the shared region dirty.
//
// Bytes and entries are versions of the block. Version 0 is the flushed value at the start, or "never written" with the
// bytes of a former owner on the disks. Each client operation, a write or a zeroing, creates the next version.
// Each disk has a copy of the block, a copy of the checksum page and a copy of the integrity log. `bytes` is what a
// disk returns; `medium` is the set of bytes that its medium can hold after a power cut. The dirty mark, the stale
// marks and the view are durable as soon as they change; other models cover them.
#pragma once
#include "evidence-rules.h"

namespace mirror {

constexpr int MaxDisks = 3;
constexpr int MaxLog = 6;
constexpr int MaxVersions = 4;

// Values 0 to 3 are versions. `Unknown` is an entry, `Error` the result of a read.
enum Value : u8 { RotA = 4, RotB = 5, Foreign = 6, Unknown = 7, Error = 7 };

// State of one log record on one disk.
enum OnDisk : u8 { Absent, Cached, Durable, Rotten };

// State of one write in the memory that outlives the process.
enum Recorded : u8 { None, InFlight, Acknowledged, Failed };

enum Phase : u8 { Down, ChoiceWritten, EntryAppended, Serving };
enum FlushPhase : u8 { Idle, Appended, Flushed };
enum Excuse : u8 {
    Excused = 1,
    NoCurrentCopy = 2
};  // the second: more was missing at an opening than the layout bears
enum HealedState : u8 {
    NotHealed,
    BegunAnew,
    WrittenAnew,
    FlushAppended,
    Healed
};  // written and flushed after the last planted fault
enum OpPhase : u8 { NoOp, WriteBegun, ZeroingBegun, HalfAnswered };

struct LogRecord {
    u8 entry;   // version, adopted bytes, or Unknown
    u8 legal;   // with a mark: the values that may still be proven
    u8 mark;    // the block is lost or in doubt: NoMark, Marked, MarkedOverUnknown
    u8 copies;  // OnDisk, two bits per disk
};
enum Mark : u8 { NoMark, Marked, MarkedOverUnknown };  // the last: the unknown entry below is legal too

struct State {
    // Disks.
    u8 bytes[MaxDisks], medium[MaxDisks], pageEntry[MaxDisks], pageSequence[MaxDisks];
    u8 pageRot, pageMark, pageMissed;  // masks of disks: unknown sector; lost mark in the page; missed a page writeback
    u8 away, out, stale,
        anew;  // masks of disks: away; not in the newest view; stale; opened anew since the memory began
    LogRecord log[MaxLog];
    u8 logCount, durable, stated;  // records appended; flushed; records whose durability a second block states
    u8 dirty, oldLegalToo, owed;   // oldLegalToo: of a marked block, the logged value is legal as soon as nothing is
                                  // away owed: the block is not resolved since a power cut
    // Memory that outlives the process.
    u8 memoryValid, recorded[MaxVersions];
    // Memory of the process.
    u8 phase, entry, changed, mark, legalLost, markDurable, choice, judged, found, foundMark, foundLegal;
    u8 flush, flushUpTo, op, opVersion, opArrived;
    // The history, and what the client may see.
    u8 zeroings, legal, legalAfterCut, legalAtFlush, cameBack, excused, healed;
    u8 sawError;  // 0, or 1 + the newest version when an error was read
    // Budgets that are used up.
    u8 versions, writes, flushes, kills, cuts, planted, faults, leaves, returns, moves, retires, writebacks, neighbours,
        reopenings;
    u8 pad[4];
};
static_assert(sizeof(State) % 8 == 0, "the search compares words");

struct Bounds {
    int copies, writes, zeroings, flushes, kills, cuts, faults, leaves, returns, moves, retires, writebacks, neighbours,
        reopenings;
    bool never, torn, rotCopy, rotPage, rotLog, oldCopy, failWrite, loseCache, recordsStay;
};

#define EVIDENCE_ACTIONS(ACTION) \
    ACTION(Start) ACTION(BeginWrite) ACTION(BeginZeroing) ACTION(Arrive) ACTION(MarkAcknowledged) ACTION(Answer) \
    ACTION(WriteFails) ACTION(FlushAppends) ACTION(FlushDevices) ACTION(FlushAnswers) ACTION(StateEnd) ACTION(Read) \
    ACTION(Neighbour) ACTION(CleanRegion) ACTION(WritePages) ACTION(Leave) ACTION(Return) ACTION(Resync) ACTION(Move) \
    ACTION(Retire) ACTION(Settle) ACTION(Kill) ACTION(Reopen) ACTION(PowerCut) ACTION(LoseCache) \
    ACTION(PullWhileDown) ACTION(PutBackWhileDown) ACTION(Open) ACTION(OpenFlushes) ACTION(OpenServes) ACTION(Rot) \
    ACTION(RotPage) ACTION(RotLogRecord) ACTION(OlderVersion)

enum Action : u8 {
#define DECLARE(name) name,
    EVIDENCE_ACTIONS(DECLARE)
#undef DECLARE
};
inline const char* const ActionNames[] = {
#define NAME(name) #name,
    EVIDENCE_ACTIONS(NAME)
#undef NAME
};

inline Bounds B;
inline BFS<State>* Search;

inline bool Has(u8 mask, int bit) { return mask >> bit & 1; }
inline u8 Bit(int bit) { return static_cast<u8>(1 << bit); }
inline u8 AllDisks() { return static_cast<u8>((1 << B.copies) - 1); }
inline bool Present(const State& s, int d) { return !Has(s.away, d); }
inline bool IsVersion(int value) { return value < MaxVersions; }
inline bool IsZero(const State& s, int value) { return IsVersion(value) && Has(s.zeroings, value); }
inline int CopyOf(const LogRecord& r, int d) { return r.copies >> (2 * d) & 3; }
inline void SetCopy(LogRecord& r, int d, int v) {
    r.copies = static_cast<u8>((r.copies & ~(3 << (2 * d))) | v << (2 * d));
}
inline bool Readable(int onDisk) { return onDisk == Cached || onDisk == Durable; }

// ------------------------------------------------------------------------------------------------ disks and log

inline void WriteCopy(State& s, int d, int value) {
    s.bytes[d] = static_cast<u8>(value);
    s.medium[d] |= Bit(value);
}

inline void FlushCopy(State& s, int d) { s.medium[d] = Bit(s.bytes[d]); }

inline void FlushData(State& s) {
    for (int d = 0; d < B.copies; d++)
        if (Present(s, d)) FlushCopy(s, d);
}

inline void WriteAllCopies(State& s, int value) {
    if (IsZero(s, value)) return;
    for (int d = 0; d < B.copies; d++)
        if (Present(s, d) && s.bytes[d] != value) WriteCopy(s, d, value);
}

inline u8 PresentDisks(const State& s) { return AllDisks() & ~s.away; }

inline bool CurrentCopyIsThere(const State& s) { return (PresentDisks(s) & ~s.stale) != 0; }

// Disks that are away become stale, but never the last copy that is current.
inline void MarkAwayStale(State& s) {
    if (CurrentCopyIsThere(s) || !R.lastCopyNeverStale) s.stale |= s.away;
}

inline bool ReadableSomewhere(const State& s, int i, u8 disks) {
    for (int d = 0; d < B.copies; d++)
        if (Has(disks, d) && Readable(CopyOf(s.log[i], d))) return true;
    return false;
}

// Returns false if the log of the model has no room; the step is then left out.
inline bool Append(State& s, int entry, u8 mark, int legal) {
    if (s.logCount == MaxLog) {
        Search->seen_ev["log full"]++;
        return false;
    }
    LogRecord r{static_cast<u8>(entry), static_cast<u8>(mark ? legal : 0), mark, 0};
    for (int d = 0; d < B.copies; d++)
        if (Present(s, d)) SetCopy(r, d, Cached);
    s.log[s.logCount++] = r;
    return true;
}

inline void FlushLog(State& s) {
    for (int i = 0; i < s.logCount; i++)
        for (int d = 0; d < B.copies; d++)
            if (Present(s, d) && CopyOf(s.log[i], d) == Cached) SetCopy(s.log[i], d, Durable);
    s.durable = s.logCount;
}

// Writes each record that one of `sources` can read to all disks that are present.
inline void MakeLogWhole(State& s, u8 sources) {
    for (int i = 0; i < s.logCount; i++) {
        bool readable = ReadableSomewhere(s, i, sources);
        for (int d = 0; d < B.copies; d++) {
            if (!Present(s, d)) continue;
            if (readable)
                SetCopy(s.log[i], d, Durable);
            else if (!Has(sources, d))
                SetCopy(s.log[i], d, Absent);
        }
    }
}

inline void TruncateLog(State& s, int end) {
    for (int i = end; i < s.logCount; i++) s.log[i] = LogRecord{};
    s.logCount = static_cast<u8>(end);
    for (u8* count : {&s.stated, &s.durable})
        if (*count > end) *count = static_cast<u8>(end);
}

// ------------------------------------------------------------------------------------------------ the entry

struct Found {
    u8 entry, legal, mark;
};

// Returns the entry that the pages of the present disks give.
inline Found EntryOfPages(const State& s) {
    int best = -1;
    bool bestKnown = false;
    for (int d = 0; d < B.copies; d++) {
        if (!Present(s, d)) continue;
        bool known = !Has(s.pageRot, d) && !(R.missedPagesCountNot && Has(s.pageMissed, d));
        bool better = best < 0 || s.pageSequence[d] > s.pageSequence[best];
        if (R.knownBeforeUnknown && best >= 0 && known != bestKnown)
            better = known;
        else if (best >= 0 && s.pageSequence[d] == s.pageSequence[best] && !known)
            better = true;
        if (!better) continue;
        best = d;
        bestKnown = known;
    }
    if (!bestKnown) return {Unknown, 0, NoMark};
    u8 entry = s.pageEntry[best];
    if (!Has(s.pageMark, best)) return {entry, 0, NoMark};
    return {entry, entry == Unknown ? u8(0) : Bit(entry), Marked};
}

inline Found After(const Found& before, const LogRecord& r) {
    if (r.mark != MarkedOverUnknown) return {r.entry, r.legal, r.mark};
    if (before.entry == Unknown) return {Unknown, r.legal, MarkedOverUnknown};
    return {before.entry, static_cast<u8>(r.legal | Bit(before.entry)), Marked};
}

inline bool EveryPresentLogIsAnew(const State& s) { return (PresentDisks(s) & ~s.anew) == 0; }

// Returns the number of records that the log must have: what lies below it and cannot be read is damage.
inline int ExpectedEnd(const State& s) {
    if (s.phase == Serving) return s.logCount;
    if (s.memoryValid && R.statedInMemory) return EveryPresentLogIsAnew(s) ? s.durable : s.logCount;
    return R.statedOnDisk ? s.stated : 0;
}

// Returns the entry that pages and log give, and in `end` the end of the log.
inline Found FindEntry(const State& s, int& end) {
    Found found = EntryOfPages(s);
    int expected = ExpectedEnd(s);
    for (end = 0; end < s.logCount; end++) {
        if (ReadableSomewhere(s, end, PresentDisks(s)))
            found = After(found, s.log[end]);
        else if (end >= expected)
            return found;
        else {
            found = {Unknown, 0, NoMark};
            if (R.behindHoleCounts) continue;
            end = s.logCount;
            return found;
        }
    }
    return found;
}

// Returns the entry below the durable end of the log: what a power cut cannot take back.
inline Found DurableFound(const State& s, bool below = R.oldIsDurableEntry) {
    State t = s;
    TruncateLog(t, s.durable);
    int end;
    return FindEntry(below ? t : s, end);
}

inline int DurableEntry(const State& s) { return DurableFound(s).entry; }

// Returns the entry that pages and log of the present disks would give if none of them had rotted.
inline Found TrueEntry(const State& s) {
    int newest = 0;
    for (int d = 1; d < B.copies; d++)
        if (s.pageSequence[d] > s.pageSequence[newest]) newest = d;
    Found found{s.pageEntry[newest], 0, Has(s.pageMark, newest)};
    for (int i = 0; i < s.logCount; i++) {
        bool there = i < s.stated;
        for (int d = 0; d < B.copies; d++)
            if (Present(s, d) && CopyOf(s.log[i], d) != Absent) there = true;
        if (!there) break;
        found = After(found, s.log[i]);
    }
    return found;
}

// ------------------------------------------------------------------------------------------------ the judgement

inline bool ProvenByCopy(const State& s, int value) {
    for (int d = 0; d < B.copies; d++)
        if (Present(s, d) && s.bytes[d] == value) return true;
    return false;
}

inline bool Proven(const State& s, int value) { return IsZero(s, value) || ProvenByCopy(s, value); }

// Returns the newest proven value of `legal`, or Error.
inline int NewestProven(const State& s, u8 legal) {
    if (!R.zeroingProvesItself)
        for (int v = MaxVersions; v-- > 0;)
            if (!IsZero(s, v) && ProvenByCopy(s, v)) return v;
    for (int v = MaxVersions; v-- > 0;)
        if (Has(legal, v) && Proven(s, v)) return v;
    for (int v = RotA; v <= RotB; v++)
        if (Has(legal, v) && ProvenByCopy(s, v)) return v;
    return Error;
}

struct Judgement {
    u8 choices;      // values, one of which is taken; 0: the block is lost or in doubt
    u8 legal, mark;  // of a lost block
};

inline int NewestAcknowledged(const State& s) {
    for (int v = MaxVersions; v-- > 0;)
        if (s.recorded[v] == Acknowledged) return v;
    return -1;
}

inline u8 RecordedAfter(const State& s, int version) {
    u8 mask = 0;
    for (int v = version + 1; v < MaxVersions; v++)
        if (s.recorded[v] != None) mask |= Bit(v);
    return mask;
}

// Every copy that can have held the newest value has been opened anew.
inline bool CachesLost(const State& s) {
    if (R.lostCachesOfEveryCopy && s.away) return false;
    u8 current = PresentDisks(s) & ~s.stale;
    return R.lostCachesOfEveryCopy ? s.anew != 0 && (current & ~s.anew) == 0 : s.anew != 0;
}

// The copies that are there have been opened anew: the logged value is legal too as soon as nothing is away.
inline bool CachesMayBeLost(const State& s) {
    return s.memoryValid && s.anew && (PresentDisks(s) & ~s.stale & ~s.anew) == 0;
}

inline u8 EntryBit(int entry) { return entry == Unknown ? u8(0) : Bit(entry); }

// Returns what a block with a mark can be proven to be.
inline u8 LegalOfMarked(const State& s, const Found& f) {
    bool loggedToo = R.oldLegalWhenAllThere && s.oldLegalToo && s.away == 0;
    return f.legal | (loggedToo ? EntryBit(f.entry) : u8(0));
}

inline Judgement JudgeWithMemory(const State& s, const Found& f) {
    int newest = NewestAcknowledged(s);
    u8 recorded = RecordedAfter(s, newest);
    Found d = DurableFound(s);
    u8 base = d.mark ? LegalOfMarked(s, d) : EntryBit(d.entry);
    u8 legal = recorded | (newest >= 0 ? Bit(newest) : base);
    if (!R.neverUndone) legal |= EntryBit(f.entry);
    if (R.lostCachesMakeOldLegal && CachesLost(s) && !d.mark) {
        bool named = IsVersion(d.entry) && s.recorded[d.entry] != None;
        legal |= base | EntryBit(f.entry) | RecordedAfter(s, named && R.entryEndsOlder ? d.entry : 0);
    }
    int value = NewestProven(s, legal);
    if (value != Error) return {Bit(value), 0, NoMark};
    if (!R.memoryOnlyLegal && s.dirty)
        return {static_cast<u8>(Bit(s.bytes[PresentDisks(s) & 1 ? 0 : B.copies - 1])), 0, NoMark};
    bool overUnknown = f.entry == Unknown && newest < 0 && f.mark != Marked;
    return {0, legal, overUnknown ? MarkedOverUnknown : Marked};
}

inline u8 AdoptableBytes(const State& s, bool neverStale = R.adoptNeverStale) {
    u8 values = 0;
    for (int d = 0; d < B.copies; d++)
        if (Present(s, d) && !(neverStale && Has(s.stale, d))) values |= Bit(s.bytes[d]);
    return values;
}

inline int AnyOf(u8 values) {
    for (int v = 0; v < Foreign; v++)
        if (Has(values, v)) return v;
    return Error;
}

inline Judgement JudgeAfterCut(const State& s, const Found& f) {
    if (f.mark && !s.owed && R.adoptNeverMarked) {
        int value = NewestProven(s, LegalOfMarked(s, f));
        return value != Error ? Judgement{Bit(value), 0, NoMark} : Judgement{0, f.legal, f.mark};
    }
    if (f.entry == Unknown && R.adoptOnlyKnownEntry) return {0, 0, MarkedOverUnknown};
    bool given = IsZero(s, f.entry) ? R.adoptNeverOverZeros : R.adoptOnlyWithoutLogged && ProvenByCopy(s, f.entry);
    if (f.entry != Unknown && given) return {Bit(f.entry), 0, NoMark};
    u8 adoptable = s.dirty || !R.adoptOnlyDirty ? AdoptableBytes(s) : u8(0);
    if (adoptable) return {adoptable, 0, NoMark};
    if (f.entry != Unknown && Proven(s, f.entry)) return {Bit(f.entry), 0, NoMark};
    return {0, EntryBit(f.entry), Marked};
}

inline Judgement Judge(const State& s, const Found& f) {
    bool cut = !s.memoryValid || (s.owed && RecordedAfter(s, -1) == 0);
    return cut ? JudgeAfterCut(s, f) : JudgeWithMemory(s, f);
}

// ------------------------------------------------------------------------------------------------ what is promised

inline void Violation(const State& s, const char* text, int value) {
    char line[160];
    snprintf(line, sizeof line, "%s %d (legal %02x, planted %d, kills %d, cuts %d, away %x)", text, value, s.legal,
             s.planted, s.kills, s.cuts, s.away);
    if (Search->bad.empty()) Search->bad = line;
}

inline bool ZeroIsLegal(const State& s) { return (s.legal & s.zeroings & (Bit(MaxVersions) - 1)) != 0; }

inline bool LegalValueIsSomewhere(const State& s) {
    for (int d = 0; d < B.copies; d++)
        if (Has(s.legal, s.bytes[d])) return true;
    return ZeroIsLegal(s);
}

inline void ObserveError(State& s) {
    bool noneLeft = (s.away | s.stale) == AllDisks();
    noneLeft |= s.excused == (Excused | NoCurrentCopy);
    if ((s.planted == 0 || s.healed == Healed) && !noneLeft) Violation(s, "error without a planted fault", Error);
    bool allThere = s.away == 0 && s.stale == 0;
    if (allThere && s.planted < B.copies && !(s.excused & Excused) && LegalValueIsSomewhere(s))
        Violation(s, "error although a copy is right", Error);
    s.sawError = static_cast<u8>(s.versions + 1);
    s.cameBack = 0;
}

inline u8 SameContent(const State& s, int value) { return IsZero(s, value) ? s.zeroings : Bit(value); }

// A client reads `value`.
inline void ObserveValue(State& s, int value) {
    bool older = s.sawError && !(IsVersion(value) && value >= s.sawError);
    if (value == Foreign)
        Violation(s, "bytes of a former owner", value);
    else if (!(SameContent(s, value) & s.legal))
        Violation(s, s.memoryValid ? "wrong value" : "wrong value after a cut", value);
    else if (older && !s.cameBack)
        Violation(s, "lost block has a value again by itself", value);
    s.sawError = 0;
}

// A recovery serves `value`, so that a client may read it: it must survive everything that follows.
inline void ObserveFinal(State& s, int value) {
    ObserveValue(s, value);
    s.legal = s.legalAfterCut = Bit(value);
}

// What rule 2 and its limit allow: in a dirty region, bytes of a copy if nothing that is there gives the logged value.
inline void AllowAdoption(State& s, bool afterCut) {
    Found found = TrueEntry(s);
    bool errorIsLast = s.sawError == s.versions + 1 && !s.owed;
    for (int i = 0; i < s.logCount; i++)
        if (s.log[i].mark) errorIsLast = false;  // a copy has proven the block since
    if (!afterCut || !s.dirty || (found.mark && !s.owed) || errorIsLast || IsZero(s, found.entry) ||
        Proven(s, found.entry))
        return;
    u8 adoptable = AdoptableBytes(s, true) & ~Bit(Foreign);
    s.legal |= adoptable;
    s.legalAfterCut |= adoptable;
}

inline void AllowOldAfterLostCaches(State& s) {
    bool lost = CachesMayBeLost(s) && s.away == 0;
    if (lost || (s.oldLegalToo && s.away == 0)) s.legal |= s.legalAfterCut;
}

// A write with an acknowledged mark counts as acknowledged, although its answer may not have left.
inline void NoticeMark(State& s) {
    if (s.op == HalfAnswered && R.markBeforeAnswer) s.legal = Bit(s.opVersion);
}

// A fault that destroys the last right copy excuses later errors.
inline void ExcuseIfNoneIsLeft(State& s) {
    State t = s;
    NoticeMark(t);
    if (!LegalValueIsSomewhere(t)) s.excused |= Excused;
}

inline u32 Label(Action a, int x = 0) { return static_cast<u32>(a) << 16 | static_cast<u32>(x); }

// Adds a state that a step of the engine leads to. No such step may destroy the last right copy.
inline void Engine(const State& before, const State& after, Action a, int x = 0) {
    if (LegalValueIsSomewhere(before) && !LegalValueIsSomewhere(after))
        Violation(after, "the last right copy is destroyed by a step", a);
    Search->add(after, Label(a, x));
}

// ------------------------------------------------------------------------------------------------ marks of the process

inline void SetLost(State& s, u8 legal, u8 mark) {
    s.mark = mark;
    s.legalLost = legal;
    s.markDurable = 0;
    s.changed = 0;
    int end;
    int entry = s.flush == Idle ? DurableEntry(s) : FindEntry(s, end).entry;
    if (entry != Unknown) s.entry = static_cast<u8>(entry);  // else the page cache knows it
    s.oldLegalToo = 0;
}

// Values that a power cut may bring back, but that neither entry nor records know any more (an older write that was not
// flushed; the value below a flush that was not answered), stay lost.
inline void ExcuseIfForgotten(State& s) {
    if (s.entry == Unknown) return;
    u8 known = s.legalLost | EntryBit(s.entry) | (s.flush == Idle ? EntryBit(DurableFound(s, true).entry) : u8(0));
    if (s.legalAfterCut & ~known) s.excused |= Excused;
}

// An unresolved block with an unknown entry needs no mark: page and log show it again.
inline bool AppendMark(State& s) {
    int entry = R.lostKeepsEntry ? s.entry : int(Unknown);
    u8 legal = !R.lostKeepsEntry ? u8(0) : R.lostKeepsLegal ? s.legalLost : EntryBit(s.entry);
    s.markDurable = 1;
    ExcuseIfForgotten(s);
    bool needless = s.owed || !R.unknownErrorMarked;
    if (s.entry == Unknown && s.legalLost == 0 && needless) return true;
    return Append(s, entry, s.mark, legal);
}

inline bool MakeMarkDurable(State& s) {
    if (!s.mark || s.markDurable) return true;
    if (!AppendMark(s)) return false;
    FlushLog(s);
    return true;
}

// A write into the region: the lost mark is durable before the dirty mark, and disks that are away become stale.
inline bool MarkDirty(State& s) {
    if (!s.dirty && R.markBeforeDirty && !MakeMarkDurable(s)) return false;
    s.dirty = 1;
    MarkAwayStale(s);
    return true;
}

// Writes the value to all copies, flushes them, logs the entry, flushes the log.
inline bool MakeFinal(State& s, int value) {
    WriteAllCopies(s, value);
    FlushData(s);
    if (!Append(s, value, NoMark, 0)) return false;
    FlushLog(s);
    s.entry = static_cast<u8>(value);
    s.mark = s.changed = s.legalLost = s.markDurable = s.oldLegalToo = s.owed = 0;
    return true;
}

inline bool HasRecord(const State& s, Recorded kind) {
    for (int v = 0; v < MaxVersions; v++)
        if (s.recorded[v] == kind) return true;
    return false;
}

inline bool HasRecords(const State& s) { return RecordedAfter(s, -1) != 0; }

inline bool Quiet(const State& s) { return s.phase == Serving && s.op == NoOp && !HasRecord(s, Failed); }

// ------------------------------------------------------------------------------------------------ client steps

inline void BeginOperation(State& s, OpPhase op) {
    int v = ++s.versions;
    s.op = op;
    s.opVersion = static_cast<u8>(v);
    s.opArrived = 0;
    s.legal |= Bit(v);
    s.legalAfterCut |= Bit(v);
    s.healed = s.planted ? BegunAnew : NotHealed;
    if (s.flush != Idle) s.legalAtFlush |= Bit(v);
}

inline void StepBegin(const State& s) {
    if (s.phase != Serving || s.op != NoOp || s.versions + 1 >= MaxVersions || !CurrentCopyIsThere(s)) return;
    if (s.writes < B.writes) {
        State t = s;
        bool first = t.mark || IsZero(t, t.entry);
        if (t.mark) t.excused |= Excused;  // until the flush, a power cut leaves the block lost
        if (MarkDirty(t)) {
            t.writes++;
            BeginOperation(t, WriteBegun);
            if (first ? R.recordFirstWrites : R.recordOverwrites) t.recorded[t.opVersion] = InFlight;
            Engine(s, t, BeginWrite, t.opVersion);
        }
    }
    if (s.versions - s.writes < B.zeroings && !IsZero(s, s.entry)) {
        State t = s;
        if (t.mark) t.excused |= Excused;
        BeginOperation(t, ZeroingBegun);
        t.zeroings |= Bit(t.opVersion);
        if (R.recordZeroings) t.recorded[t.opVersion] = InFlight;
        Engine(s, t, BeginZeroing, t.opVersion);
    }
}

inline void ApplyAcknowledgedMark(State& s) {
    int v = s.opVersion;
    if (R.acknowledgedMark && s.recorded[v] == InFlight) {
        s.recorded[v] = Acknowledged;
        for (int u = 0; u < v && !B.recordsStay; u++) s.recorded[u] = None;
    }
    s.entry = s.opVersion;
    s.mark = s.markDurable = s.legalLost = s.owed = 0;
}

inline void ApplyAnswer(State& s) {
    s.legal = Bit(s.opVersion);
    s.sawError = 0;
    s.healed = s.healed == BegunAnew ? WrittenAnew : NotHealed;
}

inline void StepOperation(const State& s) {
    if (s.phase != Serving || s.op == NoOp) return;
    if (s.op == WriteBegun)
        for (int d = 0; d < B.copies; d++)
            if (Present(s, d) && !Has(s.opArrived, d)) {
                State t = s;
                t.opArrived |= Bit(d);
                WriteCopy(t, d, t.opVersion);
                Search->add(t, Label(Arrive, d));
            }
    if (s.op == ZeroingBegun && !s.opArrived) {
        State t = s;
        t.opArrived = AllDisks();
        t.entry = t.opVersion;
        t.changed = t.mark = t.legalLost = t.markDurable = 0;
        if (Append(t, t.opVersion, NoMark, 0)) Search->add(t, Label(Arrive));
    }
    bool arrived = (PresentDisks(s) & ~s.opArrived) == 0;
    if (arrived && (s.op == WriteBegun || s.op == ZeroingBegun)) {
        State t = s;
        if (s.op == WriteBegun) t.changed = 1;
        t.op = HalfAnswered;
        if (R.markBeforeAnswer)
            ApplyAcknowledgedMark(t);
        else
            ApplyAnswer(t);
        Search->add(t, Label(R.markBeforeAnswer ? MarkAcknowledged : Answer));
    }
    if (s.op == HalfAnswered) {
        State t = s;
        if (R.markBeforeAnswer)
            ApplyAnswer(t);
        else
            ApplyAcknowledgedMark(t);
        t.op = NoOp;
        t.opVersion = t.opArrived = 0;
        Search->add(t, Label(R.markBeforeAnswer ? Answer : MarkAcknowledged));
    }
}

// The only copy that is there answers a write with an error: nothing, all or garbage has arrived.
inline void StepWriteFails(const State& s) {
    u8 present = PresentDisks(s);
    if (!B.failWrite || s.faults >= B.faults || s.op != WriteBegun || s.opArrived || (present & (present - 1))) return;
    int d = 0;
    while (!Has(present, d)) d++;
    const int results[] = {s.bytes[d], s.opVersion, RotB};
    for (int result : results) {
        State t = s;
        t.faults++;
        if (result == RotB) t.planted++;
        t.healed = NotHealed;
        if (result != s.bytes[d]) WriteCopy(t, d, result);
        if (result == RotB) ExcuseIfNoneIsLeft(t);
        for (int v = 0; v < MaxVersions && !R.allFailedRecords; v++)
            if (t.recorded[v] == Failed) t.recorded[v] = None;
        t.recorded[t.opVersion] = R.failedRecordLives && t.recorded[t.opVersion] ? Failed : None;
        t.op = NoOp;
        t.opVersion = 0;
        Search->add(t, Label(WriteFails, result));
    }
}

// After this flush the value before the lost one is not legal any more, not even after a power cut.
inline bool AppendMarkWithoutOld(State& s) {
    if (!s.legalLost || s.entry == Unknown || Has(s.legalLost, s.entry)) return true;
    for (u8 v = 0; v < MaxVersions; v++)
        if (Has(s.legalLost, v)) s.entry = v;
    s.markDurable = 0;
    return AppendMark(s);
}

inline void StepFlush(const State& s) {
    if (s.phase != Serving) return;
    if (s.stated < s.durable) {
        State t = s;
        t.stated = t.durable;
        Search->add(t, Label(StateEnd));
    }
    if (s.flush == Idle && s.flushes < B.flushes &&
        (s.changed || s.durable < s.logCount || HasRecord(s, Acknowledged))) {
        State t = s;
        t.flushes++;
        t.flush = Appended;
        int newest = NewestAcknowledged(t);
        t.flushUpTo = static_cast<u8>(newest < 0 ? 0 : newest);
        NoticeMark(t);
        t.legalAtFlush = t.legal;
        t.legal = s.legal;
        int end;
        Found before = FindEntry(t, end);
        bool overLost = before.mark || before.entry == Unknown;
        if (overLost ? R.overLostInTwoRounds : IsZero(t, before.entry) && R.firstInTwoRounds) FlushData(t);
        if (t.healed == WrittenAnew && t.op == NoOp) t.healed = FlushAppended;
        bool logged = !t.changed || Append(t, t.entry, NoMark, 0);
        if (t.mark && R.flushEndsOldLegal && logged) logged = AppendMarkWithoutOld(t);
        if (logged) {
            t.changed = 0;
            Search->add(t, Label(FlushAppends));
        }
    }
    if (s.flush == Appended) {
        State t = s;
        FlushData(t);
        FlushLog(t);
        t.flush = Flushed;
        Search->add(t, Label(FlushDevices));
    }
    if (s.flush == Flushed) {
        State t = s;
        for (int v = 0; v < MaxVersions; v++) {
            bool covered =
                v <= t.flushUpTo || (t.recorded[v] == InFlight ? !R.flushKeepsInFlight
                                                               : t.recorded[v] == Acknowledged && !R.flushKeepsLater);
            // records may outlive the flush that covers them
            if (covered && t.recorded[v] != Failed && !B.recordsStay) t.recorded[v] = None;
        }
        t.legalAfterCut = t.legalAtFlush;
        if (t.healed == FlushAppended) t.healed = Healed;
        t.flush = Idle;
        t.legalAtFlush = t.flushUpTo = 0;
        Search->add(t, Label(FlushAnswers));
    }
}

inline void StepRead(const State& s) {
    if (!Quiet(s)) return;
    State t = s;
    if (!t.mark && t.entry == Unknown) SetLost(t, 0, MarkedOverUnknown);
    if (!t.mark && !Proven(t, t.entry)) SetLost(t, Bit(t.entry), Marked);
    if (t.mark) {
        if ((t.dirty ? R.markBeforeError : R.markBeforeErrorInClean) && !MakeMarkDurable(t)) return;
        ObserveError(t);
    } else {
        WriteAllCopies(t, t.entry);
        ObserveValue(t, t.entry);
    }
    Engine(s, t, Read, t.mark ? int(Error) : t.entry);
}

// ------------------------------------------------------------------------------------------------ the engine in the
// background

inline void StepNeighbour(const State& s) {
    if (s.phase != Serving || s.dirty || s.neighbours >= B.neighbours || !CurrentCopyIsThere(s)) return;
    State t = s;
    t.neighbours++;
    if (MarkDirty(t)) Engine(s, t, Neighbour);
}

inline bool EntriesAreDurable(const State& s) {
    return Quiet(s) && !s.changed && s.flush == Idle && !HasRecords(s) && s.durable == s.logCount;
}

inline void StepClean(const State& s) {
    if (!s.dirty || s.owed || !EntriesAreDurable(s)) return;
    State t = s;
    FlushData(t);
    t.dirty = 0;
    Engine(s, t, CleanRegion);
}

inline bool PagesMayHold(const State& s) {
    if (s.entry == Unknown) return !R.unknownNotWritten && s.mark;
    return !s.mark || s.legalLost == Bit(s.entry);
}

inline void StepWritePages(const State& s) {
    if (s.writebacks >= B.writebacks || !EntriesAreDurable(s) || !PagesMayHold(s) || !CurrentCopyIsThere(s)) return;
    State t = s;
    t.writebacks++;
    u8 sequence = 0;
    for (int d = 0; d < B.copies; d++)
        if (t.pageSequence[d] >= sequence) sequence = static_cast<u8>(t.pageSequence[d] + 1);
    for (int d = 0; d < B.copies; d++) {
        if (!Present(t, d)) continue;
        t.pageEntry[d] = t.entry;
        t.pageSequence[d] = sequence;
        t.pageRot &= ~Bit(d);
        t.pageMissed &= ~Bit(d);
        t.pageMark = static_cast<u8>(t.mark ? t.pageMark | Bit(d) : t.pageMark & ~Bit(d));
    }
    t.markDurable = t.mark ? 1 : 0;
    t.pageMissed |= t.away;
    t.stale |= t.away;
    TruncateLog(t, 0);
    Engine(s, t, WritePages);
}

inline void StepSettle(const State& s) {
    if (s.phase != Serving || s.op != NoOp || s.flush != Idle || !HasRecord(s, Failed)) return;
    State t = s;
    u8 failed = RecordedAfter(t, NewestAcknowledged(t));
    u8 legal = failed | (t.mark ? t.legalLost : EntryBit(t.entry));
    int value = NewestProven(t, t.mark ? failed : legal);
    if (value != Error) {
        if (!MakeFinal(t, value)) return;
    } else {
        SetLost(t, legal, Marked);
        if (!MakeMarkDurable(t)) return;
    }
    for (int v = 0; v < MaxVersions; v++) t.recorded[v] = None;
    if (value != Error) ObserveFinal(t, value);
    Engine(s, t, Settle, value);
}

// Writes the page of disk `d` from the page cache.
inline void WritePage(State& s, int d) {
    for (int e = 0; e < B.copies; e++)
        if (s.pageSequence[e] > s.pageSequence[d]) s.pageSequence[d] = s.pageSequence[e];
    bool unknown = s.entry == Unknown;
    s.pageEntry[d] = s.entry;
    s.pageRot = static_cast<u8>(unknown ? s.pageRot | Bit(d) : s.pageRot & ~Bit(d));
    s.pageMark = static_cast<u8>(s.mark && !unknown ? s.pageMark | Bit(d) : s.pageMark & ~Bit(d));
    s.pageMissed &= ~Bit(d);
}

// Judges a lost or doubtful block again. Returns false if the log of the model has no room.
inline bool AskCopies(State& s) {
    int end;
    Found f = FindEntry(s, end);
    if (s.entry != Unknown) f = {s.entry, s.legalLost, s.mark};
    u8 legal = f.mark ? LegalOfMarked(s, f) : EntryBit(f.entry);
    int value = NewestProven(s, legal);
    if (value == Error && s.owed && f.entry != Unknown) value = AnyOf(AdoptableBytes(s));
    if (value != Error) {
        if (!MakeFinal(s, value)) return false;
        ObserveFinal(s, value);
        return true;
    }
    if (f.entry == Unknown) return true;
    if (s.legalLost != legal) s.markDurable = 0;
    s.entry = f.entry;
    s.mark = Marked;
    s.legalLost = legal;
    return !s.dirty || MakeMarkDurable(s);
}

// A disk is back: its page, its log and its copy of a lost block are asked before anything is written to them.
inline void StepReturn(const State& s) {
    if (!Quiet(s) || s.flush != Idle || s.returns >= B.returns) return;
    for (int d = 0; d < B.copies; d++) {
        if (Present(s, d)) continue;
        State t = s;
        t.returns++;
        u8 others = PresentDisks(t);
        t.away &= ~Bit(d);
        t.out &= ~Bit(d);
        t.cameBack = 1;
        AllowOldAfterLostCaches(t);
        AllowAdoption(t, t.owed);
        MakeLogWhole(t, R.askLog ? PresentDisks(t) : others);
        if (R.askCopy && (t.mark || t.entry == Unknown) && !AskCopies(t)) continue;
        Engine(s, t, Return, d);
    }
}

inline void StepResync(const State& s) {
    if (!Quiet(s) || s.flush != Idle) return;
    for (int d = 0; d < B.copies; d++) {
        if (!Present(s, d) || !Has(s.stale, d) || (Has(s.pageMissed, d) && !EntriesAreDurable(s))) continue;
        State t = s;
        bool source = false;
        for (int e = 0; e < B.copies; e++)
            if (Present(t, e) && t.bytes[e] == t.entry && (e != d || R.askCopy)) source = true;
        bool readable = !t.mark && t.entry != Unknown;
        if (readable && !IsZero(t, t.entry) && !source) {
            SetLost(t, Bit(t.entry), Marked);
            readable = false;
        }
        if (!readable && (t.dirty || R.resyncMakesMarkDurable) && !MakeMarkDurable(t)) continue;
        if (!readable && t.away && R.doubtStaysStale) continue;
        if (R.resyncFlushesLog) FlushLog(t);
        if (readable && !IsZero(t, t.entry)) WriteCopy(t, d, t.entry);
        if (!readable && !R.askCopy) WriteCopy(t, d, RotB);
        FlushCopy(t, d);
        if (Has(t.pageMissed, d)) WritePage(t, d);
        t.stale &= ~Bit(d);
        Engine(s, t, Resync, d);
    }
}

// Puts the slab of disk `d` to a place that holds bytes of a former owner, and writes the block and its entry there.
inline bool WriteAtNewPlace(State& s, int d, bool sourceIsThere) {
    if (!s.mark && s.entry == Unknown) SetLost(s, 0, MarkedOverUnknown);
    if (!s.mark && !Proven(s, s.entry)) SetLost(s, Bit(s.entry), Marked);
    int left = R.moveNeverForeign ? int(RotB) : int(Foreign);
    int value = IsZero(s, s.entry) ? int(Foreign) : int(s.entry);
    if (s.mark) value = sourceIsThere && R.moveKeepsBytes && R.moveNeverForeign ? int(s.bytes[d]) : left;
    s.bytes[d] = static_cast<u8>(value);
    FlushCopy(s, d);
    if (s.dirty && R.markBeforeError && !MakeMarkDurable(s)) return false;
    bool marked = Has(s.pageMark, d);
    s.pageMark &= ~Bit(d);
    if (marked && R.moveWritesMark) s.pageMark |= Bit(d);
    return true;
}

inline void StepMove(const State& s) {
    if (!Quiet(s) || s.flush != Idle || s.changed || s.moves >= B.moves) return;
    for (int d = 0; d < B.copies; d++) {
        if (!Present(s, d) || Has(s.stale, d)) continue;
        State t = s;
        t.moves++;
        if (R.moveFlushesLog) FlushLog(t);
        if (WriteAtNewPlace(t, d, true)) Engine(s, t, Move, d);
    }
}

inline bool LogIsReadable(const State& s) {
    for (int i = 0; i < s.logCount; i++)
        if (!ReadableSomewhere(s, i, PresentDisks(s))) return false;
    return true;
}

// A hot spare replaces a disk that is away. The slab of a block in doubt stays as a source.
inline void StepRetire(const State& s) {
    if (!EntriesAreDurable(s) || s.retires >= B.retires) return;
    for (int d = 0; d < B.copies; d++) {
        if (Present(s, d)) continue;
        State t = s;
        t.retires++;
        if (!t.mark && t.entry != Unknown && !Proven(t, t.entry)) SetLost(t, Bit(t.entry), Marked);
        if ((t.mark || t.entry == Unknown) && R.retireKeepsDoubt) continue;
        if (R.retireReadsLog && !LogIsReadable(t)) continue;
        if (!WriteAtNewPlace(t, d, false)) continue;
        u8 others = PresentDisks(t);
        for (u8* mask : {&t.away, &t.out, &t.stale, &t.anew, &t.pageMark}) *mask &= ~Bit(d);
        WritePage(t, d);
        MakeLogWhole(t, others);
        Engine(s, t, Retire, d);
    }
}

// ------------------------------------------------------------------------------------------------ disks leave,
// processes die

inline void ResetProcess(State& s) {
    s.phase = Down;
    s.entry = s.changed = s.mark = s.legalLost = s.markDurable = s.choice = s.judged = s.found = s.foundMark =
        s.foundLegal = 0;
    if (s.healed != Healed) s.healed = NotHealed;
    s.flush = s.flushUpTo = s.op = s.opVersion = s.opArrived = s.legalAtFlush = 0;
}

// Calls `next` for each content that disk `d` can have after its cache is lost.
template <class Next>
void LoseCacheOf(const State& s, int d, bool torn, int record, Next next) {
    for (; record < s.logCount; record++) {
        if (CopyOf(s.log[record], d) != Cached) continue;
        for (int kept : {Absent, Durable}) {
            State t = s;
            SetCopy(t.log[record], d, kept);
            LoseCacheOf(t, d, torn, record + 1, next);
        }
        return;
    }
    bool several = (s.medium[d] & (s.medium[d] - 1)) != 0;
    u8 possible = s.medium[d] | (several && torn ? Bit(RotB) : u8(0));
    for (int v = 0; v < 7; v++) {
        if (!Has(possible, v)) continue;
        State t = s;
        t.bytes[d] = static_cast<u8>(v);
        FlushCopy(t, d);
        next(t);
    }
}

inline bool Newest(const State& s, int d) { return !Has(s.out, d); }

inline void StepLeave(const State& s) {
    if (s.phase != Serving || s.leaves >= B.leaves) return;
    u8 present = PresentDisks(s);
    for (int d = 0; d < B.copies; d++) {
        if (!Has(present, d) || (present & ~s.stale & ~Bit(d)) == 0)
            continue;  // the last current copy: the space closes
        State t = s;
        t.leaves++;
        t.away |= Bit(d);
        t.out |= Bit(d);
        if (t.dirty) t.stale |= Bit(d);
        LoseCacheOf(t, d, false, 0, [&](const State& u) { Search->add(u, Label(Leave, d)); });
        Search->add(t, Label(Leave, d));
    }
}

inline void StepDeath(const State& s) {
    if (s.phase != Down && s.kills < B.kills) {
        State t = s;
        t.kills++;
        NoticeMark(t);
        t.memoryValid = s.phase == Serving || !R.unresolvedStaysCut ? 1 : s.memoryValid;
        ResetProcess(t);
        Search->add(t, Label(Kill));
    }
    if (s.phase == Serving && s.reopenings < B.reopenings) {
        State t = s;
        t.reopenings++;
        NoticeMark(t);
        t.memoryValid = 1;
        t.anew |= PresentDisks(t);
        ResetProcess(t);
        Search->add(t, Label(Reopen));
    }
}

inline void CutDisk(const State& s, int d) {
    if (d < B.copies) {
        LoseCacheOf(s, d, B.torn, 0, [&](const State& t) { CutDisk(t, d + 1); });
        return;
    }
    Search->add(s, Label(PowerCut));
}

inline void StepPowerCut(const State& s) {
    if (s.cuts >= B.cuts || (s.phase == Down && !s.memoryValid)) return;
    State t = s;
    t.cuts++;
    t.memoryValid = 0;
    for (u8& r : t.recorded) r = None;
    t.anew = 0;
    t.oldLegalToo = t.cameBack = 1;
    ResetProcess(t);
    t.legal = t.legalAfterCut;
    CutDisk(t, 0);
}

inline void StepWhileDown(const State& s) {
    if (s.phase != Down) return;
    u8 present = PresentDisks(s);
    for (int d = 0; d < B.copies; d++) {
        if (Has(present, d) && present != Bit(d) && s.leaves < B.leaves) {
            State t = s;
            t.leaves++;
            t.away |= Bit(d);
            Search->add(t, Label(PullWhileDown, d));
        }
        if (!Has(present, d) && s.returns < B.returns) {
            State t = s;
            t.returns++;
            t.away &= ~Bit(d);
            t.anew |= Bit(d);
            Search->add(t, Label(PutBackWhileDown, d));
        }
        if (Has(present, d) && B.loseCache && s.memoryValid && s.faults < B.faults) {
            State t = s;
            t.faults++;
            t.planted++;
            t.healed = NotHealed;
            t.anew |= Bit(d);
            t.cameBack = 1;
            LoseCacheOf(t, d, false, 0, [&](State u) {
                ExcuseIfNoneIsLeft(u);
                Search->add(u, Label(LoseCache, d));
            });
        }
    }
}

// ------------------------------------------------------------------------------------------------ opening

inline void OpenWith(const State& before, State t, bool judged, int choice, u8 legal, u8 mark) {
    t.choice = static_cast<u8>(choice);
    t.legalLost = legal;
    t.mark = mark;
    t.phase = ChoiceWritten;
    if (!CurrentCopyIsThere(t)) t.excused |= NoCurrentCopy;
    t.judged = judged;
    bool newMark = choice == Error && !(t.foundMark && t.foundLegal == legal);
    if (judged && newMark) t.oldLegalToo = !DurableFound(t).mark && CachesMayBeLost(t);
    if (judged && choice == Error)
        t.owed = (t.owed || (!t.memoryValid && !t.foundMark)) && t.dirty &&
                 (t.found == Unknown || !CurrentCopyIsThere(t)) && R.undecidedStaysUnresolved;
    if (!R.recordsEndLast)
        for (u8& r : t.recorded) r = None;
    if (judged && choice != Error && R.writeAllCopies) WriteAllCopies(t, choice);
    Engine(before, t, Open, choice);
}

inline void StepOpen(const State& s) {
    if (s.phase != Down || (PresentDisks(s) & ~s.out) == 0) return;
    State t = s;
    AllowOldAfterLostCaches(t);
    AllowAdoption(t, !t.memoryValid || t.owed);
    State before = t;
    int end;
    Found f = FindEntry(t, end);
    TruncateLog(t, end);
    MakeLogWhole(t, PresentDisks(t));
    if (!t.memoryValid) t.durable = t.logCount;
    if (t.out & ~t.away) t.cameBack = 1;
    if (t.dirty) MarkAwayStale(t);
    t.out |= t.away;
    t.entry = t.found = f.entry;
    t.foundMark = f.mark;
    t.foundLegal = f.legal;
    bool judgedWhenRead = !t.dirty && R.adoptOnlyDirty;
    if (judgedWhenRead && !HasRecords(t) && !f.mark && f.entry != Unknown) {
        OpenWith(before, t, false, f.entry, 0, NoMark);
        return;
    }
    Judgement j = Judge(t, f);
    if (!j.choices) OpenWith(before, t, true, Error, j.legal, j.mark);
    for (int v = 0; v < 7; v++)
        if (Has(j.choices, v)) OpenWith(before, t, true, v, 0, NoMark);
}

inline void StepOpenFlushes(const State& s) {
    if (s.phase != ChoiceWritten) return;
    State t = s;
    t.phase = EntryAppended;
    if (R.flushBeforeEntry) FlushData(t);
    if (t.choice == Error) {
        int end;
        Found f = FindEntry(t, end);
        bool same = f.mark == t.mark && f.legal == t.legalLost;
        if (!same && !f.mark) t.entry = t.found = static_cast<u8>(DurableEntry(t));
        if (!same && !AppendMark(t)) return;
        t.markDurable = 1;
    } else if (R.entryLogged && (t.choice != t.found || t.foundMark)) {
        if (!Append(t, t.choice, NoMark, 0)) return;
    }
    Engine(s, t, OpenFlushes);
}

inline void StepOpenServes(const State& s) {
    if (s.phase != EntryAppended) return;
    State t = s;
    t.phase = Serving;
    if (R.flushBeforeServing) FlushLog(t);
    t.stated = t.durable;
    for (u8& r : t.recorded) r = None;
    if (t.choice != Error) t.entry = t.choice;
    t.memoryValid = 1;
    t.anew = 0;
    t.out &= t.away;
    if (t.choice != Error && t.judged)
        ObserveFinal(t, t.choice);
    else if (t.choice != Error)
        t.legal = t.legalAfterCut = SameContent(t, t.choice) & t.legal;
    t.choice = t.judged = t.found = t.foundMark = t.foundLegal = 0;
    if (!t.mark) t.oldLegalToo = t.owed = 0;
    Search->add(t, Label(OpenServes));
}

// ------------------------------------------------------------------------------------------------ planted faults

inline bool DurableOnAnother(const State& s, int i, int d) {
    for (int e = 0; e < B.copies; e++)
        if (e != d && CopyOf(s.log[i], e) == Durable) return true;
    return false;
}

inline bool AnotherEntryIsLeft(const State& s, int d) {
    for (int e = 0; e < B.copies; e++)
        if (e != d && !Has(s.pageRot, e) && !Has(s.pageMissed, e)) return true;
    return false;
}

inline void StepPlant(const State& s) {
    if (s.faults >= B.faults || (s.phase != Down && s.phase != Serving)) return;
    State base = s;
    base.faults++;
    base.planted++;
    base.healed = NotHealed;
    for (int d = 0; d < B.copies; d++) {
        if (B.rotCopy && s.bytes[d] != RotA && s.bytes[d] != RotB) {
            State t = base;
            t.bytes[d] = s.faults == 0 ? RotA : RotB;
            FlushCopy(t, d);
            ExcuseIfNoneIsLeft(t);
            Search->add(t, Label(Rot, d));
        }
        if (B.oldCopy && !s.sawError && !s.mark && !TrueEntry(s).mark && IsVersion(s.bytes[d]) && s.bytes[d] > 0 &&
            !IsZero(s, 0)) {
            State t = base;
            t.bytes[d] = 0;
            FlushCopy(t, d);
            ExcuseIfNoneIsLeft(t);
            Search->add(t, Label(OlderVersion, d));
        }
        if (B.rotPage && !Has(s.pageRot, d)) {
            State t = base;
            t.pageRot |= Bit(d);
            if (!AnotherEntryIsLeft(s, d)) t.excused |= Excused;
            Search->add(t, Label(RotPage, d));
        }
        for (int i = 0; B.rotLog && i < s.logCount; i++) {
            bool known = i < s.stated || (s.phase == Down && s.memoryValid && i < s.durable);
            if (!known || CopyOf(s.log[i], d) != Durable) continue;
            State t = base;
            SetCopy(t.log[i], d, Rotten);
            if (i >= s.stated) t.cuts = 255;  // not stated yet: a power cut before the statement is outside the promise
            if (!DurableOnAnother(s, i, d)) t.excused |= Excused;
            Search->add(t, Label(RotLogRecord, d * 8 + i));
        }
    }
}

inline void Next(State s) {
    if (s.planted && s.memoryValid) ExcuseIfNoneIsLeft(s);
    StepBegin(s);
    StepOperation(s);
    StepWriteFails(s);
    StepFlush(s);
    StepRead(s);
    StepNeighbour(s);
    StepClean(s);
    StepWritePages(s);
    StepSettle(s);
    StepReturn(s);
    StepResync(s);
    StepMove(s);
    StepRetire(s);
    StepLeave(s);
    StepDeath(s);
    StepPowerCut(s);
    StepWhileDown(s);
    StepOpen(s);
    StepOpenFlushes(s);
    StepOpenServes(s);
    StepPlant(s);
}

inline void Show(u32 action, const State& s) {
    printf("%-16s %d |", ActionNames[action >> 16], action & 0xffff);
    for (int d = 0; d < B.copies; d++)
        printf(" %s%d{%02x} page %d.%d%s%s%s", Present(s, d) ? "" : "AWAY:", s.bytes[d], s.medium[d], s.pageEntry[d],
               s.pageSequence[d], Has(s.pageRot, d) ? "?" : "", Has(s.pageMark, d) ? "lost" : "",
               Has(s.pageMissed, d) ? "missed" : "");
    printf(" | log");
    for (int i = 0; i < s.logCount; i++) {
        printf(" %s%d", s.log[i].mark ? "LOST" : "", s.log[i].entry);
        if (s.log[i].mark) printf("(%02x)", s.log[i].legal);
        printf(":");
        for (int d = 0; d < B.copies; d++) printf("%c", "-cdR"[CopyOf(s.log[i], d)]);
    }
    printf(" end %d | dirty %d stale %x out %x anew %x | memory %d:", s.stated, s.dirty, s.stale, s.out, s.anew,
           s.memoryValid);
    for (int v = 0; v < MaxVersions; v++) printf("%c", "-ifF"[0] == '-' ? "-iaf"[s.recorded[v]] : '?');
    printf(" | phase %d entry %d changed %d mark %d{%02x}%s op %d flush %d | legal %02x cut %02x zero %02x%s\n",
           s.phase, s.entry, s.changed, s.mark, s.legalLost, s.markDurable ? "durable" : "", s.op, s.flush, s.legal,
           s.legalAfterCut, s.zeroings, s.sawError ? " error seen" : "");
}

inline void ReadBounds() {
    B = {opt("copies", 2),         opt("writes", 0),        opt("zeroings", 0),    opt("flushes", 0),
         opt("kills", 0),          opt("cuts", 0),          opt("faults", 0),      opt("leaves", 0),
         opt("returns", 0),        opt("moves", 0),         opt("retires", 0),     opt("writebacks", 0),
         opt("neighbours", 0),     opt("reopenings", 0),    opt("never", 0) != 0,  opt("torn", 0) != 0,
         opt("rotCopy", 0) != 0,   opt("rotPage", 0) != 0,  opt("rotLog", 0) != 0, opt("oldCopy", 0) != 0,
         opt("failWrite", 0) != 0, opt("loseCache", 0) != 0,
         opt("recordsStay", 0) != 0};
}

inline int Run() {
    ReadBounds();
    BFS<State> search(static_cast<u64>(opt("max", 20)) * 1000000);
    Search = &search;
    State s;
    memset(&s, 0, sizeof s);
    for (int d = 0; d < B.copies; d++) {
        s.bytes[d] = B.never ? u8(Foreign) : u8(0);
        FlushCopy(s, d);
    }
    s.zeroings = B.never ? 1 : 0;
    s.phase = Serving;
    s.memoryValid = 1;
    s.legal = s.legalAfterCut = 1;
    return search.run(
        std::vector<State>{s}, [](const State& x) { Next(x); }, [](u32 a, const State& x) { Show(a, x); });
}

}  // namespace mirror
