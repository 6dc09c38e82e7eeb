// Who may take part again, and with what: three disks of one pool, one block each. A disk leaves and joins, an older image is put in its place, or one of
// another history (the images were copied, and the copy was opened). The host stops well or crashes between any two writes to disks.
// Checked: no copy that counts as good holds anything but the newest flushed version; a disk that lost nothing is never called behind or foreign.
#include "bfs.h"
enum { N = 3 };
// Rules; 0 takes one out.
static int r_held, r_before, r_rounds, r_token, r_pending, r_joiner, r_journal, r_whole, r_keep, r_voter, meta, fp;
static int O, W, L, J, C, R, F;   // bounds: openings, writes, leaves, joins, crashes, restores; F: image of another history
struct Disk { u8 data, epoch, hba, view, settled, vep, syn, sess, prev, open, seq, stale, held[N], hseq[N], hsess[N], prior; };   // prior: members of the view before, which vote until the view is settled
enum { OFF, SERVE, REC, VIEW, SETTLE, POST, LATE, CLOSE1, CLOSE2 };
enum { OPEN, LEAVE, JOIN };
struct S {
  Disk d[N]; Disk cp;
  u8 cpof, cpbar, cpother, present, lost, foreign;      // image: whose (+1), older than a good stop or a departure; disks: there, behind, of another history
  u8 phase, kind, at, m, t, x, e, hba, seq, sess, prev, open, vep, syn;   // the running host
  u8 stale, held[N], hseq[N], hsess[N], behind, clean, flushed;
  u8 nO, nW, nL, nJ, nC, nR, pad[1];
};
static_assert(sizeof(S) % 8 == 0, "");
static BFS<S>* B;
static void fail(const char* w) { if (B->bad.empty()) B->bad = w; }
static int num(u8 t) { return t & 15; }
static void table(S& s, Disk& d) { d.seq = s.seq; d.stale = s.stale; for (int i = 0; i < N; i++) { d.held[i] = s.held[i]; d.hseq[i] = s.hseq[i]; d.hsess[i] = s.hsess[i]; } }
static void commit(S& s) { s.seq++; for (int i = 0; i < N; i++) if (s.m >> i & 1) table(s, s.d[i]); }
static void check(S& s) { for (int i = 0; i < N; i++) if ((s.m & ~s.stale) >> i & 1 && s.d[i].data != s.flushed) fail("an old or foreign copy counts as good"); }
static bool names(const Disk& a, u8 t) { return t && (a.sess == t || a.prev == t || (r_pending && a.open == t)); }
static bool differs(const Disk& a, u8 t) { u8 all[3] = {a.sess, a.prev, a.open}; for (u8 o : all) if (o && t && num(o) == num(t) && o != t) return true; return false; }
static bool passed(const Disk& a, const Disk& by) { return num(a.sess) < num(by.sess) && by.prev && num(a.sess) > num(by.prev) && !names(by, a.sess); }
static bool fit(const Disk& a, const Disk& b) {
  return !r_token || !(differs(b, a.sess) || differs(b, a.prev) || differs(b, a.open) || passed(a, b) || passed(b, a));
}
// What the table says of a disk outside: 0 as it was, 1 less, 2 another history.
static int judge(const S& s, int i) {
  const Disk& d = s.d[i];
  if (r_token && num(d.sess) && (num(d.sess) > num(s.sess) || (d.sess >> 4 != s.sess >> 4))) return 2;   // not among the sessions of the records
  if (!s.held[i]) return 0;
  return d.epoch < s.held[i] || (r_journal && d.seq < s.hseq[i]) ? 1 : 0;
}
static void sound(S& s, int i, int verdict) { if (fp && verdict && !(s.lost >> i & 1) && !(s.foreign >> i & 1)) fail("a disk that lost nothing is called behind or foreign"); }
static void begin(S& s, int kind, u8 t, u8 x) { s.kind = kind; s.t = t; s.x = x; s.at = 0; s.phase = REC; }
// Records of what leaves; memory only.
static bool leavers(S& s) {
  u8 gone = 0, view = s.kind == OPEN ? s.x : s.m; bool any = false;
  for (int i = 0; i < N; i++) if (view >> i & 1 && !(s.t >> i & 1)) {
    gone |= 1 << i;
    if (s.kind == OPEN) { u8 floor = s.hba > s.syn ? s.hba : s.syn; if (s.held[i] && ((s.vep != s.syn && r_joiner) || (s.held[i] >= floor && r_keep))) continue; s.held[i] = floor; s.hseq[i] = 0; s.hsess[i] = s.prev; }
    else { s.held[i] = s.d[i].epoch; s.hseq[i] = s.d[i].seq; s.hsess[i] = s.d[i].sess; }
    any = true;
  }
  return any && r_held;
}
static void start(S s, const char*) {
  // one history has the newest view; the oracle lets only openings go on that can find it (the witness and the votes see to that)
  u8 newest = 0; for (int i = 0; i < N; i++) if (!(s.foreign >> i & 1) && s.d[i].vep > newest) newest = s.d[i].vep;
  int best = -1; for (int i = 0; i < N; i++) if (s.present >> i & 1 && !(s.foreign >> i & 1) && s.d[i].vep == newest && (best < 0 || s.d[i].settled > s.d[best].settled || (s.d[i].settled == s.d[best].settled && s.d[i].epoch > s.d[best].epoch))) best = i;
  if (best < 0 || __builtin_popcount(s.present) < 2) return;
  bool whole = false; for (int i = 0; i < N; i++) whole |= s.present & s.d[best].view & ~s.lost & ~s.foreign & (1 << i) && s.d[i].vep == newest;
  if (!whole) return;   // one fault at a time: a member that lost nothing is there
  u8 line = 0; for (int i = 0; i < N; i++) if (s.present >> i & 1) { if (fit(s.d[i], s.d[best])) line |= 1 << i; else sound(s, i, 2); }
  for (int i = 0; i < N; i++) if (line & s.foreign & (1 << i) && s.d[i].vep > newest && r_token) return;   // the others are the beginning of its history: they lack the majority of its view
  const Disk v = s.d[best]; u8 hba = 0, behind = 0;
  int tab = best; for (int i = 0; i < N; i++) if (line & v.view & ~s.foreign & (1 << i) && s.d[i].seq > s.d[tab].seq) tab = i;
  s.seq = s.d[tab].seq; s.stale = s.d[tab].stale; for (int i = 0; i < N; i++) { s.held[i] = s.d[tab].held[i]; s.hseq[i] = s.d[tab].hseq[i]; s.hsess[i] = s.d[tab].hsess[i]; }
  for (int i = 0; i < N; i++) if (line >> i & 1 && s.d[i].hba > hba) hba = s.d[i].hba;
  u8 syn = v.settled ? v.vep : v.syn;
  for (int i = 0; i < N; i++) if ((line & v.view) >> i & 1) {
    bool floor = s.d[i].vep < syn || (r_rounds && s.d[i].epoch < hba), rec = s.held[i] && r_held;
    if (rec && !v.settled && r_joiner) { if (judge(s, i) == 1) { behind |= 1 << i; sound(s, i, 1); } else if (floor) behind |= 1 << i, s.behind &= ~(1 << i); continue; }
    if (floor || (rec && judge(s, i) == 1)) { behind |= 1 << i; if (floor || rec) sound(s, i, 1); }
  }
  // excluded: outside, and stale as a whole unless the record says that it holds what it held
  u8 less = 0; for (int i = 0; i < N; i++) if (behind >> i & 1 && !(s.held[i] && r_held && !v.settled && r_joiner && judge(s, i) == 0)) less |= 1 << i;
  s.behind = less; u8 t = line & v.view & ~behind; if (!t) return;
  s.hba = hba; s.syn = syn; s.vep = v.settled ? syn : (syn == 255 ? 0 : syn + 1); s.x = v.view; s.e = 0;
  for (int i = 0; i < N; i++) if (line >> i & 1 && s.d[i].epoch > s.e) s.e = s.d[i].epoch;
  u8 last = v.sess, before = v.prev; if (r_pending && v.open && num(v.open) > num(v.sess)) { before = v.sess; last = v.open; }
  int high = num(last); for (int i = 0; i < N; i++) { if (line >> i & 1 && num(s.d[i].open) > high) high = num(s.d[i].open); if (line >> i & 1 && num(s.d[i].sess) > high) high = num(s.d[i].sess); }
  for (int i = 0; i < N; i++) if (!(s.foreign >> i & 1)) { if (num(s.d[i].open) > high) high = num(s.d[i].open); }   // promised numbers are found by the votes
  s.prev = last; s.open = high + 1; s.sess = last; (void)before; s.m = t; s.clean = 0; s.nO++;
  // the promise and the view, written again, reach those who still vote for the view before: then they say that they are as new as the others
  u8 told = 0; for (int i = 0; i < N; i++) if ((line & v.prior & ~v.view) >> i & 1) {
    if (r_voter && judge(s, i) == 1) { s.behind |= 1 << i; sound(s, i, 1); }
    else told |= 1 << i;
  }
  if (told) { s.e++; for (int i = 0; i < N; i++) if (told >> i & 1) { s.d[i].epoch = s.e; s.d[i].seq = s.seq; s.d[i].sess = s.sess; s.d[i].prev = s.prev; s.d[i].open = s.open; } }
  begin(s, OPEN, t, v.view); B->add(s, 1);
}
static void next(S s) {

  bool change = s.phase >= REC && s.phase <= LATE;
  if (s.phase == OFF) { if (s.nO < O) start(s, ""); }
  else if (s.nC < C) { S n = s; n.phase = OFF; n.m = n.t = n.x = n.at = n.kind = n.e = n.hba = n.seq = n.sess = n.prev = n.open = n.vep = n.syn = n.stale = n.behind = n.clean = 0; memset(n.held, 0, N); memset(n.hseq, 0, N); memset(n.hsess, 0, N); n.nC++; B->add(n, 2); }
  if (change) {
    S n = s; u8 order[N]; int k = 0;
    for (int i = 0; i < N; i++) if (s.t >> i & 1 && !(s.kind == JOIN && s.x == i)) order[k++] = i;
    int old = k; if (s.kind == JOIN) order[k++] = s.x;
    switch (s.phase) {
      case REC: case LATE: {
        bool mine = (s.phase == REC) == (r_before != 0);
        if (s.at == 0 && mine) { if (!leavers(n)) { n.at = 99; } else n.seq++; }
        else if (!mine) n.at = 99;
        if (n.at != 99) { table(n, n.d[order[n.at]]); n.at++; if (n.at >= old) { n.at = 99; if (s.kind == LEAVE && n.cpof == s.x + 1) n.cpbar = 1; } }
        if (n.at == 99) { n.at = 0; if (s.phase == REC) { n.phase = VIEW; n.e++; n.vep = n.e; } else { n.phase = POST; } }
        B->add(n, 3); break; }
      case VIEW: {
        Disk& w = n.d[order[s.at]]; w.view = s.t; w.prior = s.kind == OPEN ? s.x : s.m; w.settled = 0; w.vep = s.vep; w.syn = s.syn; w.hba = s.hba; w.epoch = s.kind == JOIN && s.x == order[s.at] ? s.e + 1 : s.e;
        if (s.kind == JOIN && s.x == order[s.at]) { w.sess = s.sess; w.prev = s.prev; table(n, w); } w.open = s.open;
        if (++n.at >= k) { n.at = 0; n.phase = SETTLE; if (s.kind != JOIN && r_rounds) n.hba = s.e; n.e += 2; n.m = s.t; if (s.kind == OPEN && s.open) { n.sess = s.open; } }
        B->add(n, 4); break; }
      case SETTLE: {
        Disk& w = n.d[order[s.at]]; w.settled = 1; w.prior = 0; w.syn = s.vep; w.epoch = s.e; w.hba = s.hba; w.sess = n.sess; w.prev = s.prev; w.open = 0;
        if (++n.at >= k) { n.at = 0; n.open = 0; n.syn = s.vep; if (r_rounds) n.hba = s.e; n.phase = LATE; }
        B->add(n, 5); break; }
      case POST: {
        for (int i = 0; i < N; i++) if (n.m >> i & 1) n.held[i] = n.hseq[i] = n.hsess[i] = 0;
        commit(n); n.phase = SERVE; n.kind = n.t = n.x = 0; check(n); B->add(n, 6); break; }
    }
  }
  if (s.phase == SERVE) {
    if (s.nW < W) { S n = s; n.flushed++; n.nW++; u8 miss = 7 & ~n.m & ~n.stale; n.stale |= miss; for (int i = 0; i < N; i++) if (n.m >> i & 1) n.d[i].data = n.flushed; if (miss || meta) commit(n); B->add(n, 10); }
    for (int i = 0; i < N; i++) {
      u8 b = 1 << i;
      if (s.m & b && s.nL < L && (s.m & ~b & ~s.stale)) { S n = s; n.present &= ~b; n.nL++; begin(n, LEAVE, s.m & ~b, i); B->add(n, 20 + i); }
      if (!(s.m & b) && s.present & b && s.nJ < J) {
        S n = s; int verdict = judge(n, i); sound(n, i, verdict);
        if (verdict == 2) continue;
        if ((verdict == 1 || n.behind & b) && r_whole) { n.stale |= b; commit(n); }
        n.behind &= ~b; n.nJ++; begin(n, JOIN, s.m | b, i); B->add(n, 30 + i); }
      if (s.m & s.stale & b && s.m & ~s.stale) { S n = s; n.d[i].data = n.flushed; n.stale &= ~b; if (!(n.lost & b)) {} n.lost &= ~b; commit(n); check(n); B->add(n, 40 + i); }
    }
    { S n = s; n.phase = r_rounds ? CLOSE1 : CLOSE2; n.at = 0; n.e++; B->add(n, 50); }
  }
  if (s.phase == CLOSE1 || s.phase == CLOSE2) {
    S n = s; while (n.at < N && !(n.m >> n.at & 1)) n.at++;
    if (n.at < N) { n.d[n.at].epoch = n.e; n.d[n.at].hba = n.hba; n.at++; }
    int more = n.at; while (more < N && !(n.m >> more & 1)) more++;
    if (more >= N) {
      if (s.phase == CLOSE1) { n.phase = CLOSE2; n.hba = n.e; n.e++; n.at = 0; }
      else { u8 m = n.m; n.phase = OFF; n.m = n.e = n.hba = n.seq = n.sess = n.prev = n.vep = n.syn = n.stale = n.behind = n.at = 0; memset(n.held, 0, N); memset(n.hseq, 0, N); memset(n.hsess, 0, N); n.clean = 1; if (n.cpof && m >> (n.cpof - 1) & 1) n.cpbar = 1; }
    }
    B->add(n, 51);
  }
  for (int i = 0; i < N; i++) {
    u8 b = 1 << i;
    if (!s.cpof && s.nR < R && s.present & b && !(s.lost & b)) {
      if (!F) { S n = s; n.cp = s.d[i]; n.cpof = i + 1; B->add(n, 60 + i); }
      else if (s.phase == OFF && s.clean) {   // all images were copied and the copy was opened, written and closed
        S n = s; Disk& c = n.cp; c = s.d[i]; c.data = 100; c.prev = c.sess; c.sess = 16 + num(c.sess) + 1; c.open = 0; c.view = 7; c.settled = 1; c.epoch += 4; c.vep = c.syn = c.epoch - 3; c.hba = c.epoch - 1; c.seq += 2; n.cpof = i + 1; n.cpbar = n.cpother = 1; B->add(n, 63 + i); }
    }
    if (s.cpof == i + 1 && s.cpbar && s.nR < R && !(s.m & b) && !(s.phase == REC || s.phase == VIEW || s.phase == SETTLE || s.phase == LATE || s.phase == POST)) {
      bool inView = false; u8 newest = 0; for (int k = 0; k < N; k++) if (s.d[k].vep > newest) { newest = s.d[k].vep; inView = s.d[k].view & b; }
      if (s.phase == OFF && inView && !s.clean && !s.cpother) continue;   // after a crash a member's own older image of that session is not promised to be found
      bool another = false; for (int k = 0; k < N; k++) another |= k != i && s.d[k].vep == newest && s.d[k].data == s.flushed && !((s.lost | s.foreign) >> k & 1);
      if (!another) continue;   // no more faults than redundancy
      S n = s; n.d[i] = s.cp; n.cpof = 0; n.nR++; n.present |= b; n.lost |= b; if (s.cpother) n.foreign |= b; B->add(n, 70 + i); }
    if (s.phase == OFF && s.present & b && __builtin_popcount(s.present) == 3) { S n = s; n.present &= ~b; B->add(n, 80 + i); }
    if ((s.phase == OFF || s.phase == SERVE) && !(s.present & b)) { S n = s; n.present |= b; B->add(n, 90 + i); }
  }
}
static void show(u32 a, const S& s) {
  printf("%3u phase %d m %d t %d present %d seq %d flushed %d stale %d held %d,%d,%d |", a, s.phase, s.m, s.t, s.present, s.seq, s.flushed, s.stale, s.held[0], s.held[1], s.held[2]);
  for (int i = 0; i < N; i++) printf(" [%d e%d h%d v%d%s%d t%x/%x/%x q%d st%d]", s.d[i].data, s.d[i].epoch, s.d[i].hba, s.d[i].view, s.d[i].settled ? "s" : "u", s.d[i].vep, s.d[i].sess, s.d[i].prev, s.d[i].open, s.d[i].seq, s.d[i].stale);
  printf("\n");
}
int main(int c, char** v) {
  parse(c, v);
  r_held = opt("held", 1); r_before = opt("before", 1); r_rounds = opt("rounds", 1); r_token = opt("token", 1); r_pending = opt("pending", 1);
  r_joiner = opt("joiner", 1); r_journal = opt("journal", 1); r_whole = opt("whole", 1); r_keep = opt("keep", 1); r_voter = opt("voter", 1); meta = opt("meta", 1); fp = opt("fp", 1);
  O = opt("O", 3); W = opt("W", 1); L = opt("L", 1); J = opt("J", 2); C = opt("C", 1); R = opt("R", 1); F = opt("F", 0);
  static BFS<S> b((u64)opt("max", 30) * 1000000); B = &b;
  S s; memset(&s, 0, sizeof s);
  for (int i = 0; i < N; i++) { s.d[i].epoch = 3; s.d[i].hba = 2; s.d[i].view = 7; s.d[i].settled = 1; s.d[i].vep = s.d[i].syn = 1; s.d[i].sess = 1; s.d[i].seq = 1; }
  s.present = 7; s.clean = 1;
  return b.run({s}, next, show);
}
