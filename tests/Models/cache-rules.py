import subprocess,re
W={"s":"copies=1 home=1 W=3 F=2 C=2","m":"copies=2 home=2 W=3 F=2 C=2","mt":"copies=2 home=2 W=3 F=1 C=1 T=1","k":"copies=1 home=1 W=4 F=2 C=2 K=1 Q=1","f":"copies=1 home=1 old=0 W=3 F=2 T=1 C=2 Q=1","pc":"copies=2 home=1 W=3 F=2 C=2 faults=1 fk=3","ph":"copies=2 home=2 W=3 F=1 C=2 faults=1 fk=12","mk":"copies=2 home=1 W=3 F=1 C=2 K=1 faults=1 fk=2","r3":"copies=1 home=1 W=4 F=2 C=2 RC=3","t":"copies=1 home=1 W=3 F=2 T=1 C=2","l":"copies=2 home=2 W=2 F=1 C=2 faults=1 fk=16","lk":"copies=1 home=1 W=2 F=1 C=1 K=1 Q=1 RC=3 faults=1 fk=16","e":"copies=1 home=1 W=3 F=2 C=2 RC=3 early=1"}
M=[("(base: destage only durable records)",""),("literal: 'oldest records up to a chosen sequence' (not only durable)","destdur=0"),("same, but destage marks dirty first","destdur=0 destmark=1"),("flush home before tail","destflush=0"),("destage logs entries durably","destlog=0"),("tail advanced DURABLY before reuse/bypass","taildur=0"),("bypass only if no record, destaged included","bypass=1"),("full ring: wait-overlap","wait=0"),("overlapping trim is a record","trimrec=0"),("records above durable seq verified in full (payload)","payload=0"),("tail records made whole on all copies","whole=0"),("made whole and flushed before serving","wholeflush=0"),("tail sequence made equal on all copies","tailwhole=0"),("flush members first","flushmembers=0"),("range lock bypass/destage","lock=0"),("home FLUSH two rounds for first entries","two=0"),("a lost record makes its block an error at home","poison=0"),("a write over a lost block is noted as a first one","note=0"),("nothing older is destaged over what completed a stripe","older=0")]
for n,m in M:
  hits=[];tot=0
  for w,c in W.items():
    a={"destdur":"1"};a.update(x.split('=') for x in c.split());a.update(x.split('=') for x in m.split())
    o=subprocess.run(["nice","-n","10","./cache","trace=0","max=10"]+[f"{k}={v}" for k,v in a.items()],capture_output=True,text=True).stdout
    k=int(re.search(r'states (\d+)',o).group(1));tot+=k
    if 'VIOL' in o: hits.append(f"{w}@{k}: "+o.split('VIOLATION: ')[1].strip()); break
  print(n,'|',m,'|',hits[0] if hits else f'NOT NOTICED ({tot})',flush=True)
