// World "ring" of evidence.cpp: the ring of a write cache on two disks, one block.
//
// Record i holds version i + 1; the home holds version 0 at the start. A record is absent, cached, durable or rotten on
// each copy. The destage of durable records is one step; cache.cpp covers its order. The end that the ring must have is
// stated on the disks by a second durable block and, after a kill, by the memory.
#pragma once
#include "evidence-rules.h"

namespace ring {

constexpr int Copies = 2;
constexpr int MaxRecords = 4;
constexpr u8 Unknown = 7;

enum OnDisk : u8 { Absent, Cached, Durable, Rotten };
enum Phase : u8 { Down, MadeWhole, Serving };

struct State {
    u8 record[MaxRecords][Copies];
    u8 count, tail, home;              // records appended; records destaged; version at home
    u8 durable, stated, acknowledged;  // counts of records: flushed (memory), stated on disk, acknowledged (memory)
    u8 away, out, memoryValid, phase, value, op, opArrived, flushing;
    u8 legal, legalAfterCut, legalAtFlush, sawError, cameBack, excused;
    u8 flushes, destages, kills, cuts, planted, leaves, returns, retires, noCut;
    u8 pad[3];
};
static_assert(sizeof(State) % 8 == 0, "the search compares words");

#define RING_ACTIONS(ACTION) \
    ACTION(Start) ACTION(Append) ACTION(Arrive) ACTION(Answer) ACTION(FlushBegins) ACTION(FlushAnswers) \
    ACTION(StateEnd) ACTION(Destage) ACTION(Read) ACTION(Leave) ACTION(Return) ACTION(Retire) ACTION(Kill) \
    ACTION(PowerCut) ACTION(PullWhileDown) ACTION(PutBackWhileDown) ACTION(Open) ACTION(OpenServes) ACTION(RotRecord)
enum Action : u8 {
#define DECLARE(name) name,
    RING_ACTIONS(DECLARE)
#undef DECLARE
};
inline const char* const ActionNames[] = {
#define NAME(name) #name,
    RING_ACTIONS(NAME)
#undef NAME
};

struct Bounds {
    int writes, flushes, destages, kills, cuts, faults, leaves, returns, retires;
};

inline Bounds B;
inline BFS<State>* Search;

inline bool Has(u8 mask, int bit) { return mask >> bit & 1; }
inline u8 Bit(int bit) { return static_cast<u8>(1 << bit); }
inline u32 Label(Action a, int x = 0) { return static_cast<u32>(a) << 16 | static_cast<u32>(x); }
inline bool Present(const State& s, int c) { return !Has(s.away, c); }
inline bool Readable(u8 onDisk) { return onDisk == Cached || onDisk == Durable; }

inline bool ReadableOn(const State& s, int i, u8 copies) {
    for (int c = 0; c < Copies; c++)
        if (Has(copies, c) && Readable(s.record[i][c])) return true;
    return false;
}

inline u8 PresentCopies(const State& s) { return static_cast<u8>(3 & ~s.away); }
inline bool ReadableHere(const State& s, int i) { return ReadableOn(s, i, PresentCopies(s)); }

inline void FlushRing(State& s) {
    for (int i = 0; i < s.count; i++)
        for (int c = 0; c < Copies; c++)
            if (Present(s, c) && s.record[i][c] == Cached) s.record[i][c] = Durable;
}

// Writes each record that `sources` can read to all copies that are present.
inline void MakeWhole(State& s, u8 sources) {
    for (int i = s.tail; i < s.count; i++) {
        bool readable = ReadableOn(s, i, sources);
        for (int c = 0; c < Copies; c++) {
            if (!Present(s, c)) continue;
            if (readable && R.writeAllCopies && s.record[i][c] != Durable) s.record[i][c] = Cached;
            if (!readable && !Has(sources, c)) s.record[i][c] = Absent;
        }
    }
}

// Returns the value of the block: the newest record, or Unknown where a record that can be newer is damaged.
inline u8 ValueOf(const State& s) {
    u8 value = s.home;
    for (int i = s.tail; i < s.count; i++) {
        if (ReadableHere(s, i))
            value = static_cast<u8>(i + 1);
        else if (value = Unknown; !R.behindHoleCounts)
            return value;
    }
    return value;
}

inline int ExpectedEnd(const State& s) {
    int end = R.statedOnDisk ? s.stated : 0;
    if (s.memoryValid && R.statedInMemory && s.acknowledged > end) end = s.acknowledged;
    return end;
}

// ------------------------------------------------------------------------------------------------ what is promised

inline void Violation(const State& s, const char* text, int value) {
    char line[160];
    snprintf(line, sizeof line, "%s %d (legal %02x, planted %d, kills %d, cuts %d, away %x)", text, value, s.legal,
             s.planted, s.kills, s.cuts, s.away);
    if (Search->bad.empty()) Search->bad = line;
}

inline bool LegalIsSomewhere(const State& s) {
    for (int i = s.tail; i < s.count; i++)
        if (Has(s.legal, i + 1) && ReadableOn(s, i, 3)) return true;
    return Has(s.legal, s.home);
}

inline void Observe(State& s, bool final) {
    if (s.value == Unknown) {
        if (s.planted == 0) Violation(s, "error without a planted fault", Unknown);
        if (s.planted < Copies && s.away == 0 && !s.excused && LegalIsSomewhere(s))
            Violation(s, "error although a copy has it", Unknown);
        s.sawError = static_cast<u8>(s.count + 1);
        s.cameBack = 0;
        return;
    }
    if (!Has(s.legal, s.value)) Violation(s, s.memoryValid ? "wrong value" : "wrong value after a cut", s.value);
    if (s.sawError && !s.cameBack && s.value < s.sawError)
        Violation(s, "lost block has a value again by itself", s.value);
    s.sawError = 0;
    if (final) s.legal = s.legalAfterCut = Bit(s.value);
}

inline void Engine(const State& before, const State& after, Action a, int x = 0) {
    if (!before.excused && LegalIsSomewhere(before) && !LegalIsSomewhere(after))
        Violation(after, "the last right copy is destroyed by a step", a);
    Search->add(after, Label(a, x));
}

// ------------------------------------------------------------------------------------------------ client and engine

inline void StepWrite(const State& s) {
    if (s.phase != Serving) return;
    if (!s.op && s.count < B.writes) {
        State t = s;
        t.op = ++t.count;
        t.opArrived = 0;
        t.legal |= Bit(t.op);
        t.legalAfterCut |= Bit(t.op);
        if (t.flushing) t.legalAtFlush |= Bit(t.op);
        Search->add(t, Label(Append, t.op));
    }
    if (!s.op) return;
    for (int c = 0; c < Copies; c++) {
        if (!Present(s, c) || Has(s.opArrived, c)) continue;
        State t = s;
        t.opArrived |= Bit(c);
        t.record[s.op - 1][c] = Cached;
        Search->add(t, Label(Arrive, c));
    }
    if (PresentCopies(s) & ~s.opArrived) return;
    State t = s;
    t.value = t.acknowledged = t.op;
    t.legal = Bit(t.op);
    t.sawError = t.op = t.opArrived = 0;
    Search->add(t, Label(Answer));
}

inline void StepFlush(const State& s) {
    if (s.phase != Serving) return;
    if (!s.flushing && s.durable < s.acknowledged && s.flushes < B.flushes) {
        State t = s;
        t.flushes++;
        t.flushing = s.acknowledged;
        t.legalAtFlush = t.legal;
        Search->add(t, Label(FlushBegins));
    }
    if (s.flushing) {
        State t = s;
        FlushRing(t);
        t.durable = t.flushing;
        t.flushing = 0;
        t.legalAfterCut = t.legalAtFlush;
        t.legalAtFlush = 0;
        Search->add(t, Label(FlushAnswers));
    }
    if (s.stated < s.durable) {
        State t = s;
        t.stated = t.durable;
        Search->add(t, Label(StateEnd));
    }
}

// Destages all durable records. A damaged record stops the tail: its block, and others, may be newer than their homes.
inline void StepDestage(const State& s) {
    if (s.phase != Serving || s.op || s.flushing || s.tail == s.durable || s.destages >= B.destages) return;
    State t = s;
    t.destages++;
    for (int i = t.tail; i < t.durable; i++) {
        if (ReadableHere(t, i))
            t.home = static_cast<u8>(i + 1);
        else if (R.tailStopsAtDamage)
            return;
    }
    t.tail = t.durable;
    for (int i = 0; i < t.tail; i++)
        for (u8& c : t.record[i]) c = Absent;
    if (t.stated < t.tail) t.stated = t.tail;
    if (t.value == Unknown) t.value = ValueOf(t);
    Engine(s, t, Destage);
}

inline void StepRead(const State& s) {
    if (s.phase != Serving || s.op) return;
    State t = s;
    Observe(t, false);
    Engine(s, t, Read, t.value);
}

inline void StepCopies(const State& s) {
    for (int c = 0; c < Copies; c++) {
        bool last = PresentCopies(s) == Bit(c);
        if (Present(s, c) && !last && s.leaves < B.leaves && (s.phase == Serving || s.phase == Down)) {
            State t = s;
            t.leaves++;
            t.away |= Bit(c);
            if (s.phase == Serving) t.out |= Bit(c);
            Search->add(t, Label(s.phase == Serving ? Leave : PullWhileDown, c));
        }
        if (Present(s, c)) continue;
        if (s.phase == Down && s.returns < B.returns) {
            State t = s;
            t.returns++;
            t.away &= ~Bit(c);
            t.cameBack = 1;
            Search->add(t, Label(PutBackWhileDown, c));
        }
        if (s.phase == Serving && !s.op && !s.flushing && s.returns < B.returns) {
            State t = s;
            t.returns++;
            t.away &= ~Bit(c);
            t.out &= ~Bit(c);
            t.cameBack = 1;
            MakeWhole(t, R.askLog ? PresentCopies(t) : static_cast<u8>(PresentCopies(t) & ~Bit(c)));
            FlushRing(t);
            if (t.value == Unknown) t.value = ValueOf(t);
            Engine(s, t, Return, c);
        }
        if (s.phase == Serving && !s.op && !s.flushing && s.retires < B.retires) {
            State t = s;
            t.retires++;
            bool whole = true;
            for (int i = t.tail; i < t.count; i++) whole = whole && ReadableHere(t, i);
            if (!whole && R.retireReadsLog) continue;
            u8 others = PresentCopies(t);
            t.away = t.out = 0;
            MakeWhole(t, others);
            FlushRing(t);
            Engine(s, t, Retire, c);
        }
    }
}

// ------------------------------------------------------------------------------------------------ the process dies,
// and opens again

inline void ResetProcess(State& s) {
    s.phase = Down;
    s.value = s.op = s.opArrived = s.flushing = s.legalAtFlush = 0;
}

inline void CutRecord(const State& s, int index) {
    if (index == MaxRecords * Copies) {
        Search->add(s, Label(PowerCut));
        return;
    }
    u8 onDisk = s.record[index / Copies][index % Copies];
    if (onDisk != Cached) {
        CutRecord(s, index + 1);
        return;
    }
    for (u8 kept : {Absent, Durable}) {
        State t = s;
        t.record[index / Copies][index % Copies] = kept;
        CutRecord(t, index + 1);
    }
}

inline void StepDeath(const State& s) {
    if (s.phase != Down && s.kills < B.kills) {
        State t = s;
        t.kills++;
        if (s.phase == Serving) t.memoryValid = 1;
        ResetProcess(t);
        Search->add(t, Label(Kill));
    }
    if (s.cuts < B.cuts && !s.noCut && (s.phase != Down || s.memoryValid)) {
        State t = s;
        t.cuts++;
        t.memoryValid = 0;
        t.acknowledged = t.durable = t.stated;
        ResetProcess(t);
        t.legal = t.legalAfterCut;
        CutRecord(t, 0);
    }
}

inline void StepOpen(const State& s) {
    if (s.phase == Down && (PresentCopies(s) & ~s.out)) {
        State t = s;
        int end = t.tail;
        while (end < t.count && (ReadableHere(t, end) || end < ExpectedEnd(t))) end++;
        for (int i = end; i < t.count; i++)
            for (u8& c : t.record[i]) c = Absent;
        t.count = static_cast<u8>(end);
        for (u8* count : {&t.durable, &t.stated, &t.acknowledged})
            if (*count > end) *count = t.count;
        MakeWhole(t, PresentCopies(t));
        t.out |= t.away;
        t.value = ValueOf(t);
        t.phase = MadeWhole;
        Engine(s, t, Open, t.value);
    }
    if (s.phase == MadeWhole) {
        State t = s;
        if (R.flushBeforeServing) {
            FlushRing(t);
            t.durable = t.stated = t.count;
        }
        t.acknowledged = t.count;
        t.memoryValid = 1;
        t.out &= t.away;
        t.phase = Serving;
        Observe(t, true);
        Search->add(t, Label(OpenServes));
    }
}

inline void StepRot(const State& s) {
    if (s.planted >= B.faults || (s.phase != Down && s.phase != Serving)) return;
    for (int i = s.tail; i < s.count; i++)
        for (int c = 0; c < Copies; c++) {
            bool mustBeThere = i < s.stated || (s.phase == Down && s.memoryValid && i < s.acknowledged);
            if (!mustBeThere || !Readable(s.record[i][c])) continue;
            State t = s;
            t.planted++;
            t.record[i][c] = Rotten;
            if (i >= s.stated) t.noCut = 1;  // not stated yet: a power cut before the statement is outside the promise
            if (t.record[i][1 - c] != Durable) t.excused = 1;
            Search->add(t, Label(RotRecord, i * Copies + c));
        }
}

inline void Next(const State& s) {
    StepWrite(s);
    StepFlush(s);
    StepDestage(s);
    StepRead(s);
    StepCopies(s);
    StepDeath(s);
    StepOpen(s);
    StepRot(s);
}

inline void Show(u32 action, const State& s) {
    printf("%-16s %d | ring", ActionNames[action >> 16], action & 0xffff);
    for (int i = 0; i < s.count; i++) printf(" %c%c", "-cdR"[s.record[i][0]], "-cdR"[s.record[i][1]]);
    printf(
        " tail %d home %d durable %d stated %d acknowledged %d away %x out %x | memory %d phase %d value %d op %d | "
        "legal %02x cut %02x\n",
        s.tail, s.home, s.durable, s.stated, s.acknowledged, s.away, s.out, s.memoryValid, s.phase, s.value, s.op,
        s.legal, s.legalAfterCut);
}

inline int Run() {
    B = {opt("writes", 0), opt("flushes", 0), opt("destages", 0), opt("kills", 0),  opt("cuts", 0),
         opt("faults", 0), opt("leaves", 0),  opt("returns", 0),  opt("retires", 0)};
    BFS<State> search(static_cast<u64>(opt("max", 20)) * 1000000);
    Search = &search;
    State s;
    memset(&s, 0, sizeof s);
    s.phase = Serving;
    s.memoryValid = 1;
    s.legal = s.legalAfterCut = 1;
    return search.run(
        std::vector<State>{s}, [](const State& x) { Next(x); }, [](u32 a, const State& x) { Show(a, x); });
}

}  // namespace ring
