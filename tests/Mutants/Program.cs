using TierSpaces.Mutants;

// Mutate [-Seeds N] [-Tries N] [-Jobs N] [-Only TEXT|TEXT] [-Classes A,B] [-Results FILE] [-Table FILE] [-List] [-Invariants]: takes one rule of order at
// a time out of the engine and runs the simulator on those of N seeds that reach it, until it complains or -Tries of them were in vain; what it does
// not notice the engine's own tests have to. The last line is "N mutants, N noticed, N equivalent"; the exit code is 1 when one was neither. Mutants that
// -Results holds already are not run again. -Table keeps the rows of mutants that this run did not try. -Invariants: the mutants of Invariants.txt, each
// of which an invariant of the engine has to notice with the oracle off.
return args.Contains(MutantWorker.Argument) ? MutantWorker.Run(Console.In, Console.Out, args.Contains(MutantWorker.InvariantsAlone))
    : await MutantSession.RunAsync(args);
