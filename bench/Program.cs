using System.Runtime.Versioning;
using TierSpaces.Bench;
using TierSpaces.Bench.Experiments;
using TierSpaces.Bench.Nbd;
using TierSpaces.Bench.Tables;

[assembly: SupportedOSPlatform("linux")]

const string usage = """
    TierSpaces.Bench COMMAND [--option value …]

      table       measures the built host beside other servers and writes docs/performance.md
                  -Long                longer runs and more of them
                  --rounds N  --milliseconds N  --patience SECONDS
                  --only SECTION       peers (the host beside other servers), tiers (what map and heat of tiered disks take in memory), jobs (what clients keep
                                       beside them), checksums (what they cost), strips (what short ones cost), device (the block device), parity (its arithmetic
                                       over ISA-L's), cores (processor time of a request on disks that take none) or lanes (two virtual disks on two
                                       data lanes); the rest of the file stays
                  --memory FOLDER  --disk FOLDER  --output FILE
      cached-write  processor time of a write that a write cache takes, in process, over two raw journal writes
                  --rounds N (5)  --disk FOLDER
      parity      throughput of single and dual parity in one thread, by implementation and number of columns
                  --strip BYTES (64K)  --rounds N (9)  --milliseconds N (20)
      experiment  runs a published experiment again on emulated disks and writes docs/experiments/NAME.md and NAME.svg
                  -Name NAME           as docs/experiments/README.md lists them
                  --rounds N (5)  --seconds N (30)  --size BYTES (1G)  --cache BYTES (1G)
                  --memory FOLDER  --output FOLDER
      nbd-load    loads any NBD server and prints one line of JSON
                  --socket PATH        Unix socket of the server
                  --export NAME        (the default export)
                  --mode MODE          randread, randwrite, read or write (randread)
                  --block BYTES        size of a request (4096)
                  --depth N            requests in flight on each connection (32)
                  --connections N      (1)
                  --seconds N          (5), after --warmup N (1)
                  --length BYTES       part of the export that is used (all)
                  --stride BYTES       distance between two places of requests (side by side)
                  -Flush               a flush after every write
                  --flush-every N      a flush after every so many writes of a connection (none)
                  -Fua                 every write durable when it is answered
                  --operations N       ends after so many requests (after its time)
                  --seed N             other random places (0)
                  --pid N              server process whose processor time is counted
      nbd-serve   serves memory until its standard input ends
                  --socket PATH  --size BYTES (256M)  --block 512|4096 (512)
    """;

try
{
    if (args.Length == 0)
    {
        Console.WriteLine(usage);
        return 0;
    }

    Arguments arguments = new(args[1..]);
    switch (args[0])
    {
        case "table":
            TableCommand.Run(arguments);
            return 0;
        case "cached-write":
            CachedWriteCost.Run(arguments);
            return 0;
        case "parity":
            ParityThroughput.Run(arguments);
            return 0;
        case "experiment":
            ExperimentCommand.Run(args[1..]);
            return 0;
        case "nbd-load":
            LoadOptions options = LoadOptions.From(arguments);
            arguments.ThrowIfUnused();
            Console.WriteLine(NbdLoad.Run(options).ToJson());
            return 0;
        case "nbd-serve":
            NbdServe.Run(arguments);
            return 0;
        default:
            throw new ArgumentException($"'{args[0]}' is not a command; there are table, cached-write, parity, experiment, nbd-load and nbd-serve.");
    }
}
catch (Exception error) when (error is ArgumentException or IOException or FormatException)
{
    Console.Error.WriteLine($"bench: {error.Message}");
    return 1;
}
