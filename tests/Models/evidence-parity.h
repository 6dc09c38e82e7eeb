// World "parity" of evidence.cpp: one line of two data blocks with P, or with P and Q.
//
// The algebra is abstract: a parity strip holds the pair of data values that it was computed from. A block is derived
// from its own strip, from the other block and a parity strip whose pair agrees with that block, or from P and Q if
// their pairs agree. Values 0 to 2 are versions; Damaged is anything else. Whole stripes are written in place: dirty
// mark, parts, answer, flush. A write of block 1 alone goes to the ring, where it is durable when it is answered, and
// is destaged later. parity-journal.py covers the journal of a destage; it is one step here. The log of entries is
// always readable; the mirror world covers damage to it. An opening has two steps: the choice is written; then
// everything is flushed, logged and flushed again, and the line is served.
#pragma once
#include "evidence-rules.h"

namespace parity {

constexpr int MaxPositions = 4;
constexpr int Blocks = 2;
constexpr int MaxVersions = 3;
constexpr int MaxLog = 6;
constexpr u8 Damaged = 3;  // of a data strip
constexpr u8 DamagedParity = 16;
constexpr u8 Lost = 7;

enum Recorded : u8 { None, InFlight, Acknowledged };
enum Phase : u8 { Down, ChoiceWritten, Serving };
enum FlushPhase : u8 { Idle, Appended };

struct LineRecord {
    u8 entry[Blocks], legal[Blocks];  // legal is not 0: the block is lost or in doubt
};

struct State {
    u32 medium[MaxPositions];
    u8 bytes[MaxPositions];
    u8 away, out, stale, dirty;
    LineRecord log[MaxLog];
    u8 logCount, durable;
    u8 memoryValid, recorded[MaxVersions];
    u8 ring;  // version of block 1 that waits in the ring, or 0
    u8 phase, entry[Blocks], legalLost[Blocks], markDurable, changed, choice[Blocks];
    u8 flush, flushUpTo, op, opArrived;
    u8 legal[Blocks], legalAfterCut[Blocks], legalAtFlush[Blocks], sawError[Blocks], excused[Blocks], cameBack, hole;
    u8 versions, stripes, partials, flushes, kills, cuts, planted, leaves, returns;
    u8 pad[7];
};
static_assert(sizeof(State) % 8 == 0, "the search compares words");

#define PARITY_ACTIONS(ACTION) \
    ACTION(Start) ACTION(BeginStripe) ACTION(Arrive) ACTION(Answer) ACTION(FlushAppends) ACTION(FlushAnswers) \
    ACTION(WriteNeighbour) ACTION(Destage) ACTION(Read) ACTION(Leave) ACTION(Return) ACTION(Rebuild) ACTION(Kill) \
    ACTION(PowerCut) ACTION(PullWhileDown) ACTION(PutBackWhileDown) ACTION(Open) ACTION(OpenServes) ACTION(Rot)
enum Action : u8 {
#define DECLARE(name) name,
    PARITY_ACTIONS(DECLARE)
#undef DECLARE
};
inline const char* const ActionNames[] = {
#define NAME(name) #name,
    PARITY_ACTIONS(NAME)
#undef NAME
};

struct Bounds {
    int positions, stripes, partials, flushes, kills, cuts, faults, leaves, returns;
};

inline Bounds B;
inline BFS<State>* Search;

inline bool Has(u32 mask, int bit) { return mask >> bit & 1; }
inline u8 Bit(int bit) { return static_cast<u8>(1 << bit); }
inline u8 AllPositions() { return static_cast<u8>((1 << B.positions) - 1); }
inline u8 PresentPositions(const State& s) { return AllPositions() & ~s.away; }
inline int Redundancy() { return B.positions - Blocks; }
inline int Count(u8 mask) { return __builtin_popcount(mask); }
inline u32 Label(Action a, int x = 0) { return static_cast<u32>(a) << 16 | static_cast<u32>(x); }

inline int PairValue(u8 pair, int block) { return block == 0 ? pair / 4 : pair % 4; }
inline u8 Content(int position, int a, int b) {
    return static_cast<u8>(position == 0 ? a : position == 1 ? b : a * 4 + b);
}

// ------------------------------------------------------------------------------------------------ strips

inline void WriteStrip(State& s, int position, u8 content) {
    s.bytes[position] = content;
    s.medium[position] |= 1u << content;
}

inline void FlushStrip(State& s, int position) { s.medium[position] = 1u << s.bytes[position]; }

inline void FlushStrips(State& s) {
    for (int p = 0; p < B.positions; p++)
        if (Has(PresentPositions(s), p)) FlushStrip(s, p);
}

inline void WriteLine(State& s, int a, int b) {
    for (int p = 0; p < B.positions; p++)
        if (Has(PresentPositions(s), p) && s.bytes[p] != Content(p, a, b)) WriteStrip(s, p, Content(p, a, b));
}

// Returns the values that `block` is derived as, from the strips of `positions`.
inline u8 Derived(const State& s, int block, u8 positions) {
    u8 values = Has(positions, block) ? Bit(s.bytes[block]) : u8(0);
    if (!R.reconstructionProves) return values;
    for (int p = Blocks; p < B.positions; p++) {
        if (!Has(positions, p) || s.bytes[p] == DamagedParity) continue;
        bool otherAgrees = Has(positions, 1 - block) && PairValue(s.bytes[p], 1 - block) == s.bytes[1 - block];
        bool parityAgrees = false;
        for (int q = Blocks; q < B.positions; q++)
            if (q != p && Has(positions, q) && s.bytes[q] == s.bytes[p]) parityAgrees = true;
        if (otherAgrees || parityAgrees) values |= Bit(PairValue(s.bytes[p], block));
    }
    return values;
}

// The same from all strips that are there and from `other`, the proven value of the other block or Lost.
inline u8 DerivedWith(const State& s, int block, int other) {
    u8 here = PresentPositions(s), values = Derived(s, block, here);
    for (int p = Blocks; p < B.positions && R.provenBlocksCount; p++)
        if (Has(here, p) && s.bytes[p] != DamagedParity && PairValue(s.bytes[p], 1 - block) == other)
            values |= Bit(PairValue(s.bytes[p], block));
    return values;
}

inline u8 DerivedHere(const State& s, int block) {
    int other = 1 - block;
    bool otherProven = !s.legalLost[other] && Has(Derived(s, other, PresentPositions(s)), s.entry[other]);
    return DerivedWith(s, block, otherProven ? s.entry[other] : Lost);
}

inline int Newest(u8 values) {
    for (int v = MaxVersions; v-- > 0;)
        if (Has(values, v)) return v;
    return Has(values, Damaged) ? int(Damaged) : int(Lost);
}

// Chooses for each block the newest legal value that is proven. What is proven of one block counts for the other.
inline void ProveLine(const State& s, const u8* legal, u8* choice) {
    for (int i = 0; i < Blocks; i++) choice[i] = Lost;
    for (int round = 0; round < Blocks; round++)
        for (int i = 0; i < Blocks; i++)
            if (choice[i] == Lost) choice[i] = static_cast<u8>(Newest(DerivedWith(s, i, choice[1 - i]) & legal[i]));
}

// ------------------------------------------------------------------------------------------------ what is promised

inline void Violation(const State& s, const char* text, int block, int value) {
    char line[160];
    snprintf(line, sizeof line, "%s: block %d value %d (legal %02x, planted %d, kills %d, cuts %d, away %x)", text,
             block, value, s.legal[block], s.planted, s.kills, s.cuts, s.away);
    if (Search->bad.empty()) Search->bad = line;
}

inline bool LegalIsSomewhere(const State& s, int block) {
    if (block == 1 && s.ring) return true;
    const Rules saved = R;
    R.reconstructionProves = true;
    bool there = (Derived(s, block, AllPositions()) & s.legal[block]) != 0;
    R = saved;
    return there;
}

inline void ObserveError(State& s, int block) {
    bool enoughLeft = Count(s.away | s.stale) <= Redundancy();
    if (s.planted == 0 && !s.hole && enoughLeft) Violation(s, "error without a planted fault", block, Lost);
    bool allThere = s.away == 0 && s.stale == 0 && !s.hole && !s.excused[block];
    if (allThere && s.planted <= Redundancy() && LegalIsSomewhere(s, block))
        Violation(s, "error although the line gives it", block, Lost);
    s.sawError[block] = static_cast<u8>(s.versions + 1);
    s.cameBack &= ~Bit(block);
}

inline void ObserveValue(State& s, int block, int value) {
    if (!Has(s.legal[block], value))
        Violation(s, s.memoryValid ? "wrong value" : "wrong value after a cut", block, value);
    bool older = s.sawError[block] && !(value < MaxVersions && value >= s.sawError[block]);
    if (older && !Has(s.cameBack, block)) Violation(s, "lost block has a value again by itself", block, value);
    s.sawError[block] = 0;
}

inline void ObserveFinal(State& s, int block, int value) {
    ObserveValue(s, block, value);
    s.legal[block] = s.legalAfterCut[block] = Bit(value);
}

// Adds a state that a step of the engine leads to. No such step may destroy what gives a legal value.
inline void Engine(const State& before, const State& after, Action a, int x = 0) {
    for (int i = 0; i < Blocks && !before.hole; i++)
        if (LegalIsSomewhere(before, i) && !LegalIsSomewhere(after, i))
            Violation(after, "what gives a right value is destroyed by a step", i, a);
    Search->add(after, Label(a, x));
}

inline void AllowAdoption(State& s, const LineRecord& newest) {
    if (s.memoryValid || !s.dirty) return;
    for (int i = 0; i < Blocks; i++) {
        bool errorIsLast = s.sawError[i] == s.versions + 1;
        bool there = Has(PresentPositions(s) & ~s.stale, i);
        if (newest.legal[i] || errorIsLast || !there || Has(DerivedHere(s, i), newest.entry[i])) continue;
        s.legal[i] |= Bit(s.bytes[i]);
        s.legalAfterCut[i] |= Bit(s.bytes[i]);
    }
}

// ------------------------------------------------------------------------------------------------ entries

inline bool Append(State& s, const LineRecord& r) {
    if (s.logCount == MaxLog) {
        memmove(s.log, s.log + 1, sizeof(LineRecord) * (MaxLog - 1));
        s.logCount--;
        if (s.durable == 0) return false;
        s.durable--;
    }
    s.log[s.logCount++] = r;
    return true;
}

inline LineRecord Entries(const State& s) {
    LineRecord r{};
    for (int i = 0; i < Blocks; i++) {
        r.entry[i] = s.entry[i];
        r.legal[i] = s.legalLost[i];
    }
    return r;
}

inline bool LogEntries(State& s) {
    for (int i = 0; i < Blocks; i++)
        if (s.legalLost[i] && (s.legalAfterCut[i] & ~s.legalLost[i])) s.excused[i] = 1;
    s.markDurable = 1;
    return Append(s, Entries(s));
}

inline bool MakeMarkDurable(State& s) {
    if (s.markDurable) return true;
    if (!LogEntries(s)) return false;
    s.durable = s.logCount;
    return true;
}

inline void SetLost(State& s, int block) {
    s.legalLost[block] = Bit(s.entry[block]);
    s.markDurable = 0;
}

inline bool AnyLost(const State& s) { return s.legalLost[0] || s.legalLost[1]; }
inline bool Quiet(const State& s) { return s.phase == Serving && !s.op && s.flush == Idle; }

// ------------------------------------------------------------------------------------------------ client

inline void BeginVersion(State& s, int block) {
    s.legal[block] |= Bit(s.versions);
    s.legalAfterCut[block] |= Bit(s.versions);
    if (s.flush != Idle) s.legalAtFlush[block] |= Bit(s.versions);
}

inline void StepStripe(const State& s) {
    bool allIn = s.away == 0 && s.stale == 0 && !s.ring;
    if (s.phase == Serving && !s.op && allIn && s.stripes < B.stripes && s.versions + 1 < MaxVersions) {
        State t = s;
        t.stripes++;
        t.op = ++t.versions;
        t.opArrived = 0;
        if (t.dirty || !R.markBeforeDirty || MakeMarkDurable(t)) {
            t.dirty = 1;
            for (int i = 0; i < Blocks; i++) {
                BeginVersion(t, i);
                if (t.legalLost[i]) t.excused[i] = 1;
            }
            if (R.recordOverwrites) t.recorded[t.op] = InFlight;
            Search->add(t, Label(BeginStripe));
        }
    }
    if (s.phase != Serving || !s.op) return;
    for (int p = 0; p < B.positions; p++) {
        if (!Has(PresentPositions(s) & ~s.opArrived, p)) continue;
        State t = s;
        t.opArrived |= Bit(p);
        WriteStrip(t, p, Content(p, s.op, s.op));
        Search->add(t, Label(Arrive, p));
    }
    if (PresentPositions(s) & ~s.opArrived) return;
    State t = s;
    if (R.acknowledgedMark && t.recorded[t.op]) t.recorded[t.op] = Acknowledged;
    for (int v = 0; v < t.op; v++) t.recorded[v] = None;
    for (int i = 0; i < Blocks; i++) {
        t.entry[i] = t.op;
        t.legalLost[i] = t.sawError[i] = 0;
        t.legal[i] = Bit(t.op);
    }
    t.changed = 1;
    t.op = t.opArrived = 0;
    Search->add(t, Label(Answer));
}

inline void StepFlush(const State& s) {
    if (s.phase != Serving) return;
    if (s.flush == Idle && s.changed && s.flushes < B.flushes) {
        State t = s;
        t.flushes++;
        t.flush = Appended;
        t.changed = 0;
        t.flushUpTo = t.entry[0];
        for (int i = 0; i < Blocks; i++) t.legalAtFlush[i] = t.legal[i];
        if (LogEntries(t)) Search->add(t, Label(FlushAppends));
    }
    if (s.flush == Appended) {
        State t = s;
        FlushStrips(t);
        t.durable = t.logCount;
        t.flush = Idle;
        for (int v = 0; v <= t.flushUpTo && v < MaxVersions; v++) t.recorded[v] = None;
        t.flushUpTo = 0;
        for (int i = 0; i < Blocks; i++) {
            t.legalAfterCut[i] = t.legalAtFlush[i];
            t.legalAtFlush[i] = 0;
        }
        Search->add(t, Label(FlushAnswers));
    }
}

// Block 1 is written alone: durable in the ring when it is acknowledged.
inline void StepNeighbour(const State& s) {
    if (!Quiet(s) || s.changed || s.ring || s.partials >= B.partials || s.versions + 1 >= MaxVersions) return;
    State t = s;
    t.partials++;
    t.ring = ++t.versions;
    t.legal[1] = t.legalAfterCut[1] = Bit(t.ring);
    t.sawError[1] = 0;
    Search->add(t, Label(WriteNeighbour, t.ring));
}

inline void StepRead(const State& s) {
    if (!Quiet(s)) return;
    for (int i = 0; i < Blocks; i++) {
        if (i == 1 && s.ring) continue;
        State t = s;
        if (!t.legalLost[i] && !Has(DerivedHere(t, i), t.entry[i])) SetLost(t, i);
        if (t.legalLost[i]) {
            if ((t.dirty ? R.markBeforeError : R.markBeforeErrorInClean) && !MakeMarkDurable(t)) continue;
            ObserveError(t, i);
        } else {
            ObserveValue(t, i, t.entry[i]);
            if (Has(PresentPositions(t), i) && t.bytes[i] != t.entry[i]) WriteStrip(t, i, t.entry[i]);
        }
        Engine(s, t, Read, i);
    }
}

// ------------------------------------------------------------------------------------------------ the engine

// Destages block 1. Before parity is destroyed that could prove block 0, that block is reconstructed; while this fails
// and a strip is only away, the old parity stays and the ring keeps the record.
inline void StepDestage(const State& s) {
    if (!Quiet(s) || s.changed || !s.ring) return;
    State t = s;
    u8 values = R.reconstructFirst ? DerivedHere(t, 0) : Has(PresentPositions(t), 0) ? Bit(t.bytes[0]) : u8(0);
    if (!t.legalLost[0] && !Has(values, t.entry[0])) SetLost(t, 0);
    bool known = !t.legalLost[0];
    if (!known && t.away && R.ringWaitsForDoubt) return;
    if (!known && !MakeMarkDurable(t)) return;
    t.stale |= t.away;
    WriteLine(t, known ? t.entry[0] : t.bytes[0] < MaxVersions ? Damaged : t.bytes[0], t.ring);
    if (!known && Has(PresentPositions(t), 0)) WriteStrip(t, 0, s.bytes[0]);
    FlushStrips(t);
    t.entry[1] = t.ring;
    t.legalLost[1] = 0;
    t.ring = 0;
    if (!LogEntries(t)) return;
    t.durable = t.logCount;
    Engine(s, t, Destage);
}

// Writes the values that are known. Where a block is not known, the old parity stays.
inline void WriteChoices(State& s, const u8* choice) {
    if (choice[0] != Lost && choice[1] != Lost) {
        WriteLine(s, choice[0], choice[1]);
        return;
    }
    for (int i = 0; i < Blocks; i++)
        if (choice[i] != Lost && Has(PresentPositions(s), i) && s.bytes[i] != choice[i]) WriteStrip(s, i, choice[i]);
    for (int p = Blocks; p < B.positions; p++)
        if (!R.parityKeptInDoubt && Has(PresentPositions(s), p))
            WriteStrip(s, p,
                       Content(p, choice[0] == Lost ? Damaged : choice[0], choice[1] == Lost ? Damaged : choice[1]));
}

// Judges lost blocks again with a strip that is back. Returns false if the log of the model has no room.
inline bool AskStrips(State& s) {
    u8 choice[Blocks], legal[Blocks];
    for (int i = 0; i < Blocks; i++) legal[i] = s.legalLost[i] ? s.legalLost[i] : Bit(s.entry[i]);
    ProveLine(s, legal, choice);
    bool better = false;
    for (int i = 0; i < Blocks; i++)
        if (s.legalLost[i] && choice[i] != Lost) better = true;
    if (!better) return true;
    WriteChoices(s, choice);
    FlushStrips(s);
    for (int i = 0; i < Blocks; i++) {
        if (!s.legalLost[i] || choice[i] == Lost) continue;
        s.entry[i] = choice[i];
        s.legalLost[i] = 0;
        if (!(i == 1 && s.ring)) ObserveFinal(s, i, choice[i]);
    }
    if (!LogEntries(s)) return false;
    s.durable = s.logCount;
    return true;
}

inline void StepReturn(const State& s) {
    if (!Quiet(s) || s.changed || s.returns >= B.returns) return;
    for (int p = 0; p < B.positions; p++) {
        if (!Has(s.away, p)) continue;
        State t = s;
        t.returns++;
        t.away &= ~Bit(p);
        t.out &= ~Bit(p);
        t.cameBack = 3;
        if (R.askCopy && AnyLost(t) && !AskStrips(t)) continue;
        Engine(s, t, Return, p);
    }
}

// Rebuilds a stale strip. What cannot be computed stays stale.
inline void StepRebuild(const State& s) {
    if (!Quiet(s) || s.changed) return;
    for (int p = 0; p < B.positions; p++) {
        if (!Has(s.stale & ~s.away, p)) continue;
        State t = s;
        bool known[Blocks];
        u8 source = R.askCopy ? PresentPositions(t) : PresentPositions(t) & ~Bit(p);
        for (int i = 0; i < Blocks; i++) known[i] = !t.legalLost[i] && Has(Derived(t, i, source), t.entry[i]);
        bool computable = p < Blocks ? known[p] : known[0] && known[1];
        if (!computable && R.askCopy) continue;
        WriteStrip(t, p, computable ? Content(p, t.entry[0], t.entry[1]) : p < Blocks ? Damaged : DamagedParity);
        FlushStrip(t, p);
        t.stale &= ~Bit(p);
        Engine(s, t, Rebuild, p);
    }
}

// ------------------------------------------------------------------------------------------------ disks leave,
// processes die

inline void ResetProcess(State& s) {
    s.phase = Down;
    s.markDurable = s.changed = s.flush = s.flushUpTo = s.op = s.opArrived = 0;
    for (int i = 0; i < Blocks; i++) s.entry[i] = s.legalLost[i] = s.choice[i] = s.legalAtFlush[i] = 0;
}

inline void CutStrip(const State& s, int p) {
    if (p == B.positions) {
        for (int end = s.durable; end <= s.logCount; end++) {
            State t = s;
            for (int i = end; i < t.logCount; i++) t.log[i] = LineRecord{};
            t.logCount = t.durable = static_cast<u8>(end);
            Search->add(t, Label(PowerCut));
        }
        return;
    }
    for (u8 c = 0; c <= DamagedParity; c++) {
        if (!Has(s.medium[p], c)) continue;
        State t = s;
        t.bytes[p] = c;
        FlushStrip(t, p);
        CutStrip(t, p + 1);
    }
}

inline void StepDeath(const State& s) {
    if (s.phase != Down && s.kills < B.kills) {
        State t = s;
        t.kills++;
        if (s.op) t.hole = 1;
        if (s.phase == Serving || !R.unresolvedStaysCut) t.memoryValid = 1;
        ResetProcess(t);
        Search->add(t, Label(Kill));
    }
    if (s.cuts < B.cuts && (s.phase != Down || s.memoryValid)) {
        State t = s;
        t.cuts++;
        if (Count(s.legalAfterCut[0]) > 1) t.hole = 1;
        t.memoryValid = 0;
        t.cameBack = 3;
        for (u8& r : t.recorded) r = None;
        ResetProcess(t);
        for (int i = 0; i < Blocks; i++) t.legal[i] = t.legalAfterCut[i];
        CutStrip(t, 0);
    }
}

inline void StepDisks(const State& s) {
    if (s.phase != Down && s.phase != Serving) return;
    for (int p = 0; p < B.positions; p++) {
        if (Has(PresentPositions(s), p) && Count(s.away | s.stale | Bit(p)) <= Redundancy() && s.leaves < B.leaves) {
            State t = s;
            t.leaves++;
            t.away |= Bit(p);
            if (s.phase == Serving) t.out |= Bit(p);
            if (s.phase == Serving && s.dirty) t.stale |= Bit(p);
            Search->add(t, Label(s.phase == Serving ? Leave : PullWhileDown, p));
        }
        if (s.phase == Down && Has(s.away, p) && s.returns < B.returns) {
            State t = s;
            t.returns++;
            t.away &= ~Bit(p);
            t.cameBack = 3;
            Search->add(t, Label(PutBackWhileDown, p));
        }
    }
}

// ------------------------------------------------------------------------------------------------ opening

struct Judgement {
    u8 choice, legal;  // Lost with the legal values
};

inline u8 LegalWithMemory(const State& s, const LineRecord& logged, int block) {
    u8 legal = 0;
    bool acknowledged = false;
    for (int v = MaxVersions; v-- > 0;) {
        if (s.recorded[v] == None || acknowledged) continue;
        legal |= Bit(v);
        acknowledged = s.recorded[v] == Acknowledged;
    }
    if (!acknowledged) legal |= logged.legal[block] ? logged.legal[block] : Bit(logged.entry[block]);
    if (!R.neverUndone) legal |= Bit(logged.entry[block]);
    return legal;
}

inline void JudgeWithMemory(const State& s, const LineRecord& logged, Judgement* results) {
    u8 legal[Blocks], choice[Blocks];
    for (int i = 0; i < Blocks; i++) legal[i] = LegalWithMemory(s, logged, i);
    ProveLine(s, legal, choice);
    for (int i = 0; i < Blocks; i++) {
        bool adopted = choice[i] == Lost && !R.memoryOnlyLegal && s.dirty && Has(PresentPositions(s), i);
        results[i] = {adopted ? s.bytes[i] : choice[i], legal[i]};
    }
}

inline Judgement JudgeBlockAfterCut(const State& s, const LineRecord& logged, int block, int other) {
    u8 values = DerivedWith(s, block, other);
    if (logged.legal[block] && R.adoptNeverMarked)
        return {static_cast<u8>(Newest(values & logged.legal[block])), logged.legal[block]};
    u8 entry = logged.entry[block];
    if (R.adoptOnlyWithoutLogged && Has(values, entry)) return {entry, 0};
    bool adoptable = (s.dirty || !R.adoptOnlyDirty) && Has(PresentPositions(s), block) &&
                     !(R.adoptNeverStale && Has(s.stale, block));
    if (adoptable) return {s.bytes[block], 0};
    if (Has(values, entry)) return {entry, 0};
    return {Lost, Bit(entry)};
}

inline void JudgeAfterCut(const State& s, const LineRecord& logged, Judgement* results) {
    u8 legal[Blocks], proven[Blocks];
    for (int i = 0; i < Blocks; i++) legal[i] = logged.legal[i] ? logged.legal[i] : Bit(logged.entry[i]);
    ProveLine(s, legal, proven);
    for (int i = 0; i < Blocks; i++) results[i] = JudgeBlockAfterCut(s, logged, i, proven[1 - i]);
}

inline void StepOpen(const State& s) {
    if (s.phase != Down || Count(PresentPositions(s) & ~s.out & ~s.stale) < Blocks) return;
    State t = s;
    LineRecord newest = t.log[t.logCount - 1], logged = t.memoryValid ? t.log[t.durable - 1] : newest;
    AllowAdoption(t, newest);
    State before = t;
    if (t.dirty) t.stale |= t.away;
    t.out |= t.away;
    t.phase = ChoiceWritten;
    bool records = false;
    for (u8 r : t.recorded) records |= r != None;
    bool judged = t.dirty || records || logged.legal[0] || logged.legal[1];
    for (int i = 0; i < Blocks; i++) t.entry[i] = logged.entry[i];
    Judgement judgements[Blocks] = {{logged.entry[0], 0}, {logged.entry[1], 0}};
    if (judged && t.memoryValid) JudgeWithMemory(t, logged, judgements);
    if (judged && !t.memoryValid) JudgeAfterCut(t, logged, judgements);
    for (int i = 0; i < Blocks; i++) {
        Judgement j = judgements[i];
        t.choice[i] = j.choice;
        t.entry[i] = j.choice == Lost ? logged.entry[i] : j.choice;
        t.legalLost[i] = j.choice == Lost ? j.legal : u8(0);
    }
    if (judged) WriteChoices(t, t.choice);
    Engine(before, t, Open, t.choice[0] * 8 + t.choice[1]);
}

inline void StepOpenServes(const State& s) {
    if (s.phase != ChoiceWritten) return;
    State t = s;
    FlushStrips(t);
    if (!LogEntries(t)) return;
    t.durable = t.logCount;
    for (u8& r : t.recorded) r = None;
    t.phase = Serving;
    t.memoryValid = 1;
    t.out &= t.away;
    for (int i = 0; i < Blocks; i++) {
        bool fromRing = i == 1 && t.ring;
        if (t.choice[i] != Lost && t.dirty && !fromRing) ObserveFinal(t, i, t.choice[i]);
        t.choice[i] = 0;
    }
    Search->add(t, Label(OpenServes));
}

inline void StepRot(const State& s) {
    if (s.planted >= B.faults || (s.phase != Down && s.phase != Serving)) return;
    for (int p = 0; p < B.positions; p++) {
        State t = s;
        t.planted++;
        t.bytes[p] = p < Blocks ? Damaged : DamagedParity;
        FlushStrip(t, p);
        Search->add(t, Label(Rot, p));
    }
}

inline void Next(State s) {
    for (int i = 0; i < Blocks; i++)
        if (s.planted && !LegalIsSomewhere(s, i)) s.excused[i] = 1;
    StepStripe(s);
    StepFlush(s);
    StepNeighbour(s);
    StepRead(s);
    StepDestage(s);
    StepReturn(s);
    StepRebuild(s);
    StepDeath(s);
    StepDisks(s);
    StepOpen(s);
    StepOpenServes(s);
    StepRot(s);
}

inline void Show(u32 action, const State& s) {
    printf("%-16s %d |", ActionNames[action >> 16], action & 0xffff);
    for (int p = 0; p < B.positions; p++) {
        printf(" %s%s", Has(s.away, p) ? "AWAY:" : "", Has(s.stale, p) ? "stale:" : "");
        if (p < Blocks)
            printf("%d", s.bytes[p]);
        else if (s.bytes[p] == DamagedParity)
            printf("damaged");
        else
            printf("(%d,%d)", PairValue(s.bytes[p], 0), PairValue(s.bytes[p], 1));
        printf("{%x}", s.medium[p]);
    }
    printf(" | log");
    for (int i = 0; i < s.logCount; i++)
        printf(" %s%d,%d(%x,%x)", i < s.durable ? "" : "~", s.log[i].entry[0], s.log[i].entry[1], s.log[i].legal[0],
               s.log[i].legal[1]);
    printf(
        " | dirty %d ring %d memory %d:%d%d%d phase %d entry %d,%d lost %x,%x changed %d op %d flush %d | legal %x,%x "
        "cut %x,%x%s\n",
        s.dirty, s.ring, s.memoryValid, s.recorded[0], s.recorded[1], s.recorded[2], s.phase, s.entry[0], s.entry[1],
        s.legalLost[0], s.legalLost[1], s.changed, s.op, s.flush, s.legal[0], s.legal[1], s.legalAfterCut[0],
        s.legalAfterCut[1], s.hole ? " hole" : "");
}

inline int Run() {
    B = {opt("positions", 3), opt("stripes", 0), opt("partials", 0), opt("flushes", 0), opt("kills", 0),
         opt("cuts", 0),      opt("faults", 0),  opt("leaves", 0),   opt("returns", 0)};
    BFS<State> search(static_cast<u64>(opt("max", 20)) * 1000000);
    Search = &search;
    State s;
    memset(&s, 0, sizeof s);
    for (int p = 0; p < B.positions; p++) FlushStrip(s, p);
    s.logCount = s.durable = 1;
    s.phase = Serving;
    s.memoryValid = s.markDurable = 1;
    for (int i = 0; i < Blocks; i++) s.legal[i] = s.legalAfterCut[i] = 1;
    return search.run(
        std::vector<State>{s}, [](const State& x) { Next(x); }, [](u32 a, const State& x) { Show(a, x); });
}

}  // namespace parity
