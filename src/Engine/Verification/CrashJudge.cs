using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Verification;

/// <summary>
/// Opens what a power cut left, cut again now and then while it recovers, and holds it against the oracle: every sector, the same once more,
/// and once more with each disk away where the layout bears that.
/// </summary>
/// <param name="random">Decides where it is cut again.</param>
/// <param name="flushLies">See <see cref="PowerCutPlan.FlushLies"/>.</param>
/// <param name="report">Takes a violation: where, and what.</param>
internal sealed class CrashJudge(Random random, bool flushLies, Action<string, string> report)
{
    private const int ChunkBytes = 64 << 10;
    private const int SectorBytes = 512;
    private const int DepthMax = 2;
    private const int RequestsUntilCutMax = 60;
    private const long PatienceNs = 600_000_000_000;

    /// <summary>Cuts while something recovered.</summary>
    public int CutsWhileRecovering { get; private set; }

    /// <summary>Sectors of 512 bytes compared.</summary>
    public long SectorsVerified { get; private set; }

    /// <summary>Gives the disks of a world their fault.</summary>
    public void Prepare(PoolWorld world)
    {
        foreach (SimDisk disk in world.Disks)
        {
            disk.FlushLies = flushLies;
        }
    }

    /// <summary>Judges a crash state. Returns the world that remains; it is another one if it was cut again.</summary>
    public PoolWorld Verify(PoolWorld world, BlockOracle oracle, string where)
    {
        Prepare(world);
        string rejected;
        for (int depth = 1; !TryOpen(world, RequestsUntilCut(depth), out rejected); depth++)
        {
            CutsWhileRecovering++;
            where += ", cut again while it recovered";
            PoolWorld cut = world.Cut((ulong)random.NextInt64(), KeptWrites.Random(random));
            world.Release();
            world = cut;
            Prepare(world);
        }

        if (rejected.Length > 0)
        {
            report(where, $"does not open: {rejected}");
        }
        else if (ReadAll(world, oracle, where, isFirst: true) && ReadAll(world, oracle, where + ", read again", isFirst: false))
        {
            VerifyWithoutEachDisk(world, oracle, where);
        }

        return world;
    }

    private int RequestsUntilCut(int depth) =>
        depth <= DepthMax && random.Next(3) == 0 ? 1 + random.Next(RequestsUntilCutMax) : int.MaxValue;

    /// <summary>Opens a world; false when the power went before it was open, else the reason why it does not open, or empty.</summary>
    private static bool TryOpen(PoolWorld world, int requestsUntilCut, out string rejected)
    {
        string? answer = null;
        int left = requestsUntilCut;
        foreach (SimDisk disk in world.Disks)
        {
            disk.OnRequest = (_, _, _) => left--;
        }

        Open().Forget();
        world.Lane.PumpWhile(() => answer is null && left > 0, PatienceNs);
        foreach (SimDisk disk in world.Disks)
        {
            disk.OnRequest = null;
        }

        rejected = answer ?? "";
        return answer is not null;

        async LaneTask Open() => answer = await world.Open(isNew: false);
    }

    private void VerifyWithoutEachDisk(PoolWorld world, BlockOracle oracle, string where)
    {
        int redundancy = world.VirtualDisk!.Description.PhysicalDiskRedundancy;
        bool isSound = redundancy > 0;
        for (int away = 0; isSound && away < world.Disks.Length; away++)
        {
            PoolWorld without = world.Fork((ulong)random.NextInt64());
            Prepare(without);
            without.Remove(away);
            string there = $"{where}, disk {away + 1} away";
            TryOpen(without, int.MaxValue, out string rejected);
            if (rejected.Length > 0)
            {
                report(there, $"does not open: {rejected}");
            }

            isSound = rejected.Length == 0 && ReadAll(without, oracle, there, isFirst: false);
            without.Release();
        }
    }

    /// <summary>Compares every sector; what is read first after a crash is what has to be read ever after.</summary>
    private bool ReadAll(PoolWorld world, BlockOracle oracle, string where, bool isFirst)
    {
        long length = world.Store.Geometry.Length;
        string? wrong = null;
        for (long at = 0; at < length && wrong is null; at += ChunkBytes)
        {
            IoBuffer buffer = world.Lane.Buffers.Rent((int)Math.Min(ChunkBytes, length - at));
            IoError error = world.Lane.Run(world.Store.Read(at, buffer));
            wrong = error != IoError.None ? $"read at {at}: {error}"
                : isFirst ? oracle.Observe(at, buffer.Span) : oracle.CheckServing(at, buffer.Span);
            SectorsVerified += buffer.Length / SectorBytes;
            world.Lane.Buffers.Return(buffer);
        }

        if (wrong is not null)
        {
            report(where, wrong);
        }

        return wrong is null;
    }
}
