// Model: write cache ring (2 copies or 1) in front of a mirrored/simple home with entries. One block, values 1..4, old value 5.
// Worlds with fk=16 (W at most 3): the payload of a record known to be durable is lost on every copy. Its value becomes LOST, which a read gives as an
// error, wherever the value was allowed; destaging it makes the home's entry LOST (poisoned) and writes nothing there.
#include "bfs.h"
struct Rec{u8 val,st,a,b;}; // st: per copy 2 bits: 0 absent/destroyed 1 cached 2 durable 3 torn
struct S{ Rec r[8]; u8 hs[2],hc[2],ts[2],tc[2]; u8 es,ec,ds,dc; u8 n,up,strict,clean,dst,dup,dval,tail,tdr; u8 ent,chg,fl,flm,mP,mH,last,idx; u8 wc,fc,cc,kc,tcnt,f,pc,ph; u8 bw,bwd,bwv,lim,ap,dv0,lost,tstage; u8 durR,flq,done,ep,pad[7];};
static_assert(sizeof(S)%8==0,"");
static BFS<S>*G; static int NC,NH,W,F,T,C,K,RC,FAULTS,FK; static int o_bypass,o_destdur,o_destflush,o_destlog,o_taildur,o_payload,o_whole,o_wholeflush,o_wait,o_trimrec,o_old,o_lock,o_fm,o_tailwhole,o_destmark,o_two,o_replaydirty,o_torn,o_onlyend,o_poison,o_note,o_early,o_skip,o_older;
enum{FOR=7,BADV=6,LOST=4};
static const char*ON[]={"init","CACHED WRITE","BYPASS mark","BYPASS write copy","BYPASS ack","FLUSH submit","FLUSH entries logged","FLUSH devices","FLUSH ack","DESTAGE start/home write","DESTAGE home flush","DESTAGE entries append","DESTAGE entries durable","TAIL write","TAIL flush","TRIM rec","TRIM home","POWER CUT","KILL","RECOVER","RECOVER flush/serve","FAULT lost cache write","FAULT pull cache","FAULT pull home","FAULT lost home write","CLEAN region","FAULT rot cache payload","SSD flush","FAULT lose record on every copy","RECORD of another block","COMPLETE a stripe"};
static int st(const Rec&r,int d){return r.st>>(2*d)&3;} static void sst(Rec&r,int d,int v){r.st=(r.st&~(3<<2*d))|(v<<2*d);}
static void show(u32 a,const S&s){printf("  %-24s %d | ring",ON[a>>16],a&255);for(int i=0;i<s.n;i++){printf(" %s%d:",i<s.clean?"~":"",s.r[i].val);for(int d=0;d<NC;d++)printf("%d",st(s.r[i],d));}printf(" tail ram%d",s.tail);for(int d=0;d<NC;d++)printf(" t%d{%02x}",s.tc[d],s.ts[d]);printf(" | home");for(int d=0;d<NH;d++)printf(" %d{%02x}",s.hc[d],s.hs[d]);printf(" ent %d{%02x} dirty%d{%x} | up%d idx%d ent%d mP %02x last %d\n",s.ec,s.es,s.dc,s.ds,s.up,s.idx,s.ent,s.mP,s.last);}
static u32 A(int o,int x=0){return o<<16|x;}
static void bad(const S&s,const char*k,int v){char t[100];snprintf(t,100,"%s reads %s%d (allowed %02x faults %d cuts %d kills %d)",k,v==FOR?"FOREIGN ":"",v,s.strict?s.mH:s.mP,s.f,s.cc,s.kc);G->bad=t;}
static void hw(S&s,int d,int v){s.hs[d]|=1<<v;s.hc[d]=v;}
static void flushSSD(S&s){for(int i=0;i<s.n;i++)for(int d=0;d<NC;d++)if(st(s.r[i],d)==1)sst(s.r[i],d,2);for(int d=0;d<NC;d++)s.ts[d]=1<<s.tc[d];}
static void flushHome(S&s){for(int d=0;d<NH;d++)s.hs[d]=1<<s.hc[d];}
static void flushLog(S&s){s.es=1<<s.ec;s.ds=1<<s.dc;}
static int liveRec(const S&s,int from){for(int i=s.n-1;i>=from;i--)if(s.r[i].val!=15)return 1;return 0;}
static void append(S&s,int v){Rec r={(u8)v,0,0,(u8)((FK&16)?s.durR:0)};for(int d=0;d<NC;d++)if(!(s.pc>>d&1))sst(r,d,1);s.r[s.n]=r;if(s.n-RC>=0&&s.n>=RC)for(int d=0;d<NC;d++)sst(s.r[s.n-RC],d,0);s.n++;}
static void ramreset(S&s){s.up=0;s.clean=s.dst=s.dup=s.dval=s.tail=s.tdr=0;s.ent=s.chg=s.fl=s.flm=s.idx=0;s.bw=s.bwd=s.bwv=0;s.tstage=0;s.durR=s.flq=0;s.lost=0;s.done=s.ep=0;}
static void cutE(const S&s,int it){ // enumerate survivors
 int base=s.n*NC; if(it<base){int i=it/NC,d=it%NC;if(st(s.r[i],d)!=1){cutE(s,it+1);return;}S t=s;sst(t.r[i],d,2);cutE(t,it+1);sst(t.r[i],d,0);cutE(t,it+1);if(o_torn){sst(t.r[i],d,3);cutE(t,it+1);}return;}
 it-=base; auto go=[&](u8 S::*x){}; 
 auto loc=[&](const u8 set,std::function<void(S&,u8)> f){for(int v=0;v<8;v++)if(set>>v&1){S t=s;f(t,v);cutE(t,base+it+1);}};
 if(it<NC){int d=it;loc(s.ts[d],[&](S&t,u8 v){t.ts[d]=1<<v;t.tc[d]=v;});return;} int k=it-NC;
 if(k<NH){loc(s.hs[k],[&](S&t,u8 v){t.hs[k]=1<<v;t.hc[k]=v;});return;} k-=NH;
 if(k==0){loc(s.es,[&](S&t,u8 v){t.es=1<<v;t.ec=v;});return;}
 if(k==1){loc(s.ds,[&](S&t,u8 v){t.ds=1<<v;t.dc=v;});return;}
 G->add(s,A(17));}
static void powercut(const S&s0){S s=s0;s.cc++;s.strict=0;if(__builtin_popcount(s.mP)>1)s.lim=1;ramreset(s);cutE(s,0);}
static void homeval(const S&s,std::vector<int>&o){o.clear();if(s.ec==0){o.push_back(0);return;}
 if(s.ec==LOST&&(FK&16)){for(int v=1;v<4&&o_note&&s.strict;v++)if(s.mH>>v&1)for(int d=0;d<NH&&o.empty();d++)if(!(s.ph>>d&1)&&s.hc[d]==v)o.push_back(v); if(o.empty())o.push_back(LOST);return;}
 for(int d=0;d<NH;d++)if(!(s.ph>>d&1)&&s.hc[d]==s.ec){o.push_back(s.ec);return;}if(!s.dc){o.push_back(-1);return;}for(int d=0;d<NH;d++)if(!(s.ph>>d&1))o.push_back(s.hc[d]);}
static void recover(const S&s0){S s=s0; if(o_fm){flushSSD(s);flushHome(s);flushLog(s);}
 int t=0;for(int d=0;d<NC;d++)if(!(s.pc>>d&1))t=s.tc[d]>t?s.tc[d]:t;
 int m=t;bool badp=false;for(;m<s.n;m++){bool ok=false;for(int d=0;d<NC;d++)if(!(s.pc>>d&1)){int x=st(s.r[m],d);if(x==1||x==2||(x==3&&!o_payload))ok=true;}if(!ok)break;}
 for(int i=m;i<s.n;i++)s.r[i]=Rec{0,0,0,0}; s.n=m<t?t:m;
 // index
 int idx=15;for(int i=t;i<m;i++)if(s.r[i].val!=15)idx=s.r[i].val; if(m>t&&o_payload==0){int l=m-1;bool full=false;for(int d=0;d<NC;d++)if(!(s.pc>>d&1)&&(st(s.r[l],d)==1||st(s.r[l],d)==2))full=true;if(!full){idx=BADV;}}
 s.tail=s.tdr=t;s.clean=t;
 if(o_whole){for(int i=t;i<s.n;i++)for(int d=0;d<NC;d++)if(!(s.pc>>d&1)&&st(s.r[i],d)!=2)sst(s.r[i],d,1);}
 if(o_tailwhole)for(int d=0;d<NC;d++)if(!(s.pc>>d&1)&&s.tc[d]!=t){s.ts[d]|=1<<t;s.tc[d]=t;}
 std::vector<int> o;homeval(s,o);
 if(idx!=15){ // block served from the ring; home resync only if its region is dirty
   S u=s;u.up=2;u.idx=idx;u.ent=u.ec; if(u.dc&&o[0]>=0){u.ent=o[0];for(int d=0;d<NH;d++)if(!(u.ph>>d&1)&&o[0]>0&&!(o[0]==LOST&&(FK&16))&&u.hc[d]!=o[0])hw(u,d,o[0]);u.es|=1<<o[0];u.ec=o[0];} G->add(u,A(19)); return;}
 for(int v:o){S u=s;u.up=2;u.idx=15; if(v==-1){if(u.f<=(NH>NC?NC:NH)-1||(NH==1&&u.pc)){bad(u,"error after crash",-1);G->add(u,A(19));return;}continue;}
  if(u.dc){for(int d=0;d<NH;d++)if(!(u.ph>>d&1)&&v>0&&!(v==LOST&&(FK&16))&&u.hc[d]!=v)hw(u,d,v);u.es|=1<<v;u.ec=v;} u.ent=v;G->add(u,A(19));}
}
static void serve(const S&s0){S s=s0; if(o_wholeflush){flushSSD(s);}flushHome(s);flushLog(s); int v=s.idx!=15?s.idx:s.ent; u8 m=s.strict?s.mH:s.mP;
 if(v==BADV||!(m>>v&1)){if(!(s.f&&s.lim&&!s.pc&&!s.ph&&(FK&8))){bad(s,s.strict?"after kill":"after crash",v);G->add(s,A(20));return;}}
 s.mP=s.mH=1<<v;s.last=v;s.up=3;s.strict=0;s.durR=s.n;G->add(s,A(20));}
static int ram(const S&s){return s.idx!=15?s.idx:s.ent;}
static void next(const S&s){
 if(s.f<FAULTS&&s.up==0){ if(FK&2)for(int d=0;d<NC&&NC>1;d++){S t=s;t.f++;t.pc|=1<<d;G->add(t,A(22,d));} if(FK&4)for(int d=0;d<NH&&NH>1;d++){S t=s;t.f++;t.ph|=1<<d;G->add(t,A(23,d));}}
 if(s.up==0){recover(s);if(s.strict&&s.cc<C)powercut(s);return;}
 if(s.up==2){serve(s);if(s.cc<C)powercut(s);return;}
 if(s.up==3){ int v=ram(s); if(!s.bw&&v!=s.last){bad(s,"serving",v);return;}
   if(s.idx==15&&!s.bw&&s.ent&&!(s.ent==LOST&&(FK&16))){bool ok=false;for(int d=0;d<NH;d++)if(!(s.ph>>d&1)&&s.hc[d]==s.ent)ok=true;if(!ok&&s.f<NH){bad(s,"serving error",-1);return;}} }
 if((FK&16)&&s.f<FAULTS&&s.dst==0)for(int i=s.clean;i<s.n;i++){bool known=false;for(int j=i+1;j<s.n&&j<s.durR;j++)if(s.r[j].b>i)known=true; u8 v=s.r[i].val; if(!known||v==0||v==15||v==LOST)continue;
   S t=s;t.f++;t.r[i].val=LOST;auto sub=[&](u8&m){if(m>>v&1)m=(m&~(1<<v))|1<<LOST;};sub(t.mP);sub(t.mH);sub(t.flm);if(t.last==v)t.last=LOST;if(t.idx==v)t.idx=LOST;G->add(t,A(28,i));}
 if(s.cc<C)powercut(s);
 if(s.kc<K){S t=s;if(__builtin_popcount(s.mP)>1)t.lim=1;t.strict=1;t.mH=1<<s.last;if(s.bw)t.mH|=1<<s.bwv;t.kc++;ramreset(t);G->add(t,A(18));}
 bool room=s.n-s.tdr<RC&&s.n<7; int scan=o_taildur?s.tdr:s.tail; int from=o_bypass==0?s.tdr:(o_bypass==1?s.clean:s.tdr); if(!o_taildur)from=s.tail;
 bool inring=liveRec(s,from);
 if(!o_taildur)room=s.n-s.tail<RC&&s.n<7;
 auto submit=[&](S&t,int v){t.mP|=1<<v;if(t.fl)t.flm|=1<<v;};
 if(s.wc<W&&!s.bw&&!(o_lock&&0)){
   if(room){S t=s;t.wc++;submit(t,t.wc);append(t,t.wc);t.idx=t.wc;t.last=t.wc;G->add(t,A(1,t.wc)); if(s.f<FAULTS&&(FK&1)&&NC>1)for(int d=0;d<NC;d++){S u=t;u.f++;sst(u.r[u.n-1],d,0);G->add(u,A(21,d));}}
   if((!inring||(!room&&!o_wait))&&!(o_lock&&s.dst)){S t=s;t.wc++;t.bw=1;t.bwv=t.wc;submit(t,t.wc);G->add(t,A(2));}
 }
 if((FK&16)&&room&&s.n<4&&s.durR==s.n&&s.n>s.clean){S t=s;append(t,15);G->add(t,A(29));}   // a record of another block: its header says what is durable
 if(s.bw==1){S t=s;t.ds|=2;t.dc=1;flushLog(t);t.bw=2;G->add(t,A(2,1));}
 if(s.bw==2)for(int d=0;d<NH;d++)if(!(s.bwd>>d&1)){S t=s;t.bwd|=1<<d;if(!(s.ph>>d&1))hw(t,d,s.bwv);G->add(t,A(3,d));}
 if(s.bw==2&&s.bwd==(NH==2?3:1)){S t=s;t.bw=0;t.bwd=0;t.ent=s.bwv;t.last=s.bwv;t.bwv=0;t.chg=1;if(!o_wait||o_bypass)t.idx=15;t.idx=15;G->add(t,A(4));}
 if(s.tcnt<T&&!s.bw&&ram(s)!=0){ 
   if(inring&&o_trimrec){ if(room){S t=s;t.tcnt++;submit(t,0);append(t,0);t.idx=0;t.last=0;G->add(t,A(15));}}
   else if(!(o_lock&&s.dst)){S t=s;t.tcnt++;submit(t,0);t.lost=0;t.es|=1;t.ec=0;t.ent=0;t.chg=0;t.idx=15;t.last=0;G->add(t,A(16));} }
 if(s.fl==0&&s.fc<F){S t=s;t.fc++;t.fl=1;t.flq=s.n;t.flm=(1<<s.last)|(s.bw?1<<s.bwv:0);t.dv0=s.ent;t.lost=s.chg;t.chg=0;G->add(t,A(5));}
 if(s.fl==1){S t=s;bool first=o_two&&(s.ec==0||((FK&16)&&s.ec==LOST)); if(first)flushHome(t); if(t.lost){t.es|=1<<t.dv0;t.ec=t.dv0;}t.lost=0;t.fl=2;G->add(t,A(6));}
 if(s.fl==2){S t=s;flushSSD(t);flushHome(t);flushLog(t);t.fl=3;G->add(t,A(7));}
 if(s.fl==3){S t=s;t.mP&=t.flm;t.fl=0;t.flm=0;t.dv0=0;if(t.flq>t.durR)t.durR=t.flq;t.flq=0;G->add(t,A(8));}
 if(opt("ssdflush",1)&&s.durR<s.n){S t=s;flushSSD(t);t.durR=s.n;G->add(t,A(27));}
 // clean region: no bypass write since; abstract: home flushed, entries durable
 if(opt("Q",0)&&s.dc&&!s.bw&&!s.chg&&s.fl==0){S t=s;flushHome(t);flushLog(t);t.ds|=1;t.dc=0;G->add(t,A(25));}
 // destage
 if(s.dst==0&&s.n>s.clean&&!s.bw){for(int up=s.clean+1;up<=s.n;up++){ if(o_destdur&&up>s.durR)break; int v=15;for(int i=s.clean;i<up;i++)if(s.r[i].val!=15&&!(s.done&&(i+1==s.done?o_skip:i+1<s.done&&o_older)))v=s.r[i].val; S t=s;t.dup=up;t.dval=v;if(v==15&&s.done){t.dval=s.ent;t.dst=3;t.ep=0;G->add(t,A(9,up));continue;}t.dst=1;if(o_destmark){t.ds|=2;t.dc=1;flushLog(t);} bool lost=(FK&16)&&(v==LOST||v==15);if(lost&&(v==15||!o_poison))t.dval=s.ent;if(v&&!lost)for(int d=0;d<NH;d++)if(!(s.ph>>d&1))hw(t,d,v);G->add(t,A(9,up)); if(s.f<FAULTS&&(FK&8)&&NH>1&&v&&!lost)for(int d=0;d<NH;d++){S u=s;u.f++;u.dup=up;u.dval=v;u.dst=1;for(int x=0;x<NH;x++)if(x!=d)hw(u,x,v);G->add(u,A(24,d));}}}
 // a round over other blocks completes a stripe with the newest version of this one, if that is durable; the tail stays
 if(o_early&&s.dst==0&&!s.bw&&!(FK&16)&&s.n>s.clean){int j=-1;for(int i=s.clean;i<s.n;i++)if(s.r[i].val!=15)j=i; if(j>=0&&(j<s.durR||!o_destdur)&&s.r[j].val&&s.done!=j+1){S t=s;t.dup=s.clean;t.dval=s.r[j].val;t.dst=1;t.ep=j+1;for(int d=0;d<NH;d++)if(!(s.ph>>d&1))hw(t,d,t.dval);G->add(t,A(30,j));}}
 if(s.dst==1){S t=s;if(o_destflush)flushHome(t);t.dst=2;G->add(t,A(10));}
 if(s.dst==2){S t=s;t.es|=1<<t.dval;t.ec=t.dval;t.ent=t.dval;t.chg=0;t.lost=0;t.dst=3;G->add(t,A(11));}
 if(s.dst==3){S t=s;if(o_destlog)flushLog(t);t.dst=0;t.clean=t.dup;bool newer=false;for(int i=t.dup;i<t.n;i++)if(t.r[i].val!=15)newer=true;if(!newer)t.idx=15;t.dup=t.dval=0;if(t.ep){t.done=t.ep;t.ep=0;}if(t.done<=t.clean)t.done=0;G->add(t,A(12));}
 if(s.clean>s.tail&&s.tstage==0){S t=s;t.tail=s.clean;for(int d=0;d<NC;d++)if(!(s.pc>>d&1)){t.ts[d]|=1<<t.tail;t.tc[d]=t.tail;}t.tstage=1;G->add(t,A(13));}
 if(s.tstage==1){S t=s;flushSSD(t);t.durR=s.n;t.tdr=t.tail;t.tstage=0;G->add(t,A(14));}
}
int main(int c,char**v){parse(c,v);NC=opt("copies",2);NH=opt("home",NC);W=opt("W",3);F=opt("F",2);T=opt("T",0);C=opt("C",1);K=opt("K",0);RC=opt("RC",2);FAULTS=opt("faults",0);FK=opt("fk",0);
 o_bypass=opt("bypass",0);o_destdur=opt("destdur",0);o_destflush=opt("destflush",1);o_destlog=opt("destlog",1);o_taildur=opt("taildur",1);o_payload=opt("payload",1);o_whole=opt("whole",1);o_wholeflush=opt("wholeflush",1);o_wait=opt("wait",1);o_trimrec=opt("trimrec",1);o_old=opt("old",1);o_lock=opt("lock",1);o_fm=opt("flushmembers",1);o_tailwhole=opt("tailwhole",1);o_destmark=opt("destmark",0);o_two=opt("two",1);o_torn=opt("torn",1);o_poison=opt("poison",1);o_note=opt("note",1);o_early=opt("early",0);o_skip=opt("skip",1);o_older=opt("older",1);
 BFS<S> g((u64)opt("max",25)*1000000ull);G=&g;S s;memset(&s,0,sizeof s);
 for(int d=0;d<NC;d++){s.ts[d]=1;} for(int d=0;d<NH;d++){s.hc[d]=o_old?5:FOR;s.hs[d]=1<<s.hc[d];} s.ec=o_old?5:0;s.es=1<<s.ec;s.ds=1;s.up=3;s.idx=15;s.ent=s.ec;s.last=s.ec;s.mP=s.mH=1<<s.ec;
 std::vector<S> in{s};return g.run(in,[&](const S&x){next(x);},[&](u32 a,const S&x){show(a,x);});}
