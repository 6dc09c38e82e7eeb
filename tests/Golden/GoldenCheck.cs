using System.Text.Json.Nodes;
using TierSpaces.Engine.Management;

namespace TierSpaces.Golden;

/// <summary>Opens a golden pool with the present engine, step by step.</summary>
internal sealed class GoldenCheck(GoldenPack pack)
{
    private const string IdOfNewJob = "new";

    private GoldenWorld? _world;
    private HashSet<string> _jobs = [];

    /// <summary>The host that opened the pool.</summary>
    public GoldenWorld World => _world ?? throw new InvalidOperationException("The pool is not open yet.");

    /// <summary>Opens the pool; returns its objects.</summary>
    public JsonObject Open()
    {
        _world = new GoldenWorld(pack);
        JsonObject opened = GoldenObjects.Record(_world);
        _jobs = [.. Jobs(opened).Select(IdOf)];
        return opened;
    }

    /// <summary>Returns the missing disks, waits until the jobs have ended; returns the objects then.</summary>
    public JsonObject Settle()
    {
        foreach (int disk in World.Away)
        {
            World.PutBack(disk);
        }

        World.Settle();
        JsonObject settled = GoldenObjects.Record(World);
        foreach (JsonObject job in Jobs(settled).Where(job => !_jobs.Contains(IdOf(job))))
        {
            job["UniqueId"] = IdOfNewJob;   // they are random
            job["ObjectId"] = IdOfNewJob;
        }

        GoldenObjects.Sort(settled);
        return settled;
    }

    /// <summary>Virtual disks whose contents are not what was written, with the first place that differs.</summary>
    public List<string> WrongBytes()
    {
        List<string> wrong = [];
        foreach (VirtualDiskStatus disk in World.Run(World.Subsystem.VirtualDisks.ListAsync()))
        {
            string name = disk.Description.FriendlyName;
            byte[] present = World.ReadAll(name);
            int same = present.AsSpan().CommonPrefixLength(GoldenData.After(pack.Facts.Writes, name, present.Length));
            if (same < present.Length)
            {
                wrong.Add($"virtual disk '{name}' at byte {same} of {present.Length}");
            }
        }

        return wrong;
    }

    private static IEnumerable<JsonObject> Jobs(JsonObject objects) => objects["StorageJob"]!.AsArray().Select(static job => job!.AsObject());

    private static string IdOf(JsonObject job) => (string)job["UniqueId"]!;
}
