using System.Diagnostics;
using TierSpaces.Bench.Nbd;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Bench.Experiments;

/// <summary>One emulated disk by itself, in this process: no virtual disk, no server, no socket. The limit of its class of disk.</summary>
internal sealed class BareArm(string name, string image, string profile) : IArm
{
    private const double SecondsMax = 10;   // nothing but the model is measured: it is steady

    public string Name => name;

    public void Settle()
    {
    }

    public LoadResult Measure(ArmLoad load, int seed)
    {
        using Lane lane = LaneFactory.Create("bare");
        return lane.InvokeAsync(() => Drive(lane, load, new Random(seed))).GetAwaiter().GetResult();
    }

    private async LaneTask<LoadResult> Drive(Lane lane, ArmLoad load, Random random)
    {
        IDisk disk = await new DiskFactory().Open(lane, new DiskUri(DiskKind.Emulated, image, profile).ToString(), new DiskOverrides());
        LoadResult result = await Write(lane, disk, load, random);
        await disk.Close();
        return result;
    }

    private static async LaneTask<LoadResult> Write(Lane lane, IDisk disk, ArmLoad load, Random random)
    {
        IoBuffer buffer = lane.Buffers.Rent(load.Block);
        LoadRecord record = new();
        long most = load.Operations > 0 ? load.Operations : long.MaxValue;
        double seconds = Math.Min(load.Seconds, SecondsMax);
        Stopwatch watch = Stopwatch.StartNew();
        while (watch.Elapsed.TotalSeconds < seconds && record.Latency.Count < most)
        {
            long start = Stopwatch.GetTimestamp();
            long offset = random.NextInt64(disk.Geometry.Length / load.Block) * load.Block;
            IoError error = await disk.Write(offset, buffer, load.Durable ? WriteFlags.ForceUnitAccess : WriteFlags.None);
            if (error != IoError.None)
            {
                throw new IOException($"The emulated disk answered {error}.");
            }

            long now = Stopwatch.GetTimestamp();
            record.Add(now, now - start);
        }

        lane.Buffers.Return(buffer);
        return new LoadResult(record.Latency.Count, watch.Elapsed.TotalSeconds, load.Block, record, 0, null, null);
    }
}
