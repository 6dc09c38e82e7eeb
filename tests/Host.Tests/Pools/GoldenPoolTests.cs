using System.Text.Json.Nodes;
using TierSpaces.Engine.Management;
using TierSpaces.Golden;
using TierSpaces.Host.Verbs.Mapping;

namespace TierSpaces.Host.Tests.Pools;

/// <summary>Opens pools that earlier versions wrote and compares bytes, properties and jobs with what was recorded then.</summary>
public sealed class GoldenPoolTests
{
    private const long LargestFile = 1 << 20;
    private static readonly string s_folder = Path.Combine(AppContext.BaseDirectory, "Pools");

    /// <summary>Every file, as a path below the folder.</summary>
    public static TheoryData<string> Files => [.. Directory.EnumerateFiles(s_folder, "*" + GoldenScenarios.Extension, SearchOption.AllDirectories)
        .Select(static path => Path.GetRelativePath(s_folder, path)).Order(StringComparer.Ordinal)];

    [Theory]
    [MemberData(nameof(Files))]
    public void Is_as_it_was_recorded(string file)
    {
        GoldenPack pack = Read(file);
        GoldenCheck check = new(pack);
        JsonObject opened = check.Open();
        Assert.Empty(GoldenObjects.Differences(pack.Opened!, opened));
        Assert.Empty(check.WrongBytes());
        Assert.All(Bytes(pack.Opened!), before => Assert.True(Bytes(opened)[before.Key] >= before.Value, $"Job {before.Key} started over."));

        Assert.Empty(GoldenObjects.Differences(pack.Settled!, check.Settle()));
        Assert.Empty(check.WrongBytes());
        check.World.Restart();
        Assert.Empty(check.WrongBytes());
        check.World.Stop();
    }

    // It serves with the rules of its version until it is raised, and is raised while it serves.
    [Theory]
    [MemberData(nameof(Files))]
    public void Is_raised_to_the_newest_version(string file)
    {
        GoldenCheck check = new(Read(file));
        check.Open();
        check.Settle();
        PoolService pools = check.World.Subsystem.Pools;
        foreach (StoragePoolStatus pool in check.World.Run(pools.ListAsync()))
        {
            int recorded = Path.GetDirectoryName(file) switch
            {
                "0.1-member-votes" => 2,
                "0.1-lease" => 3,
                "0.1-cache-summaries" or "0.1-evidence" => 4,
                _ => 1,
            };
            Assert.Equal((recorded, (ushort?)recorded), (pool.Description.FormatVersion, pool.ToInfo().FormatVersion));
            StoragePoolStatus raised = check.World.Run(pools.RaiseAsync(pool.UniqueId));
            Assert.Equal((4, (ushort?)4), (raised.Description.FormatVersion, raised.ToInfo().FormatVersion));
        }

        Assert.Empty(check.WrongBytes());
        check.World.Restart();
        Assert.All(
            check.World.Run(check.World.Subsystem.Pools.ListAsync()), static pool => Assert.Equal((4, true), (pool.Description.FormatVersion, pool.IsOpen)));
        Assert.Empty(check.WrongBytes());
        check.World.Stop();
    }

    [Fact]
    public void There_is_a_small_file_of_every_scenario()
    {
        string[] files = [.. Directory.EnumerateFiles(s_folder, "*", SearchOption.AllDirectories)];
        Assert.Empty(GoldenScenarios.All.Keys.Except(files.Select(Path.GetFileNameWithoutExtension)));
        Assert.All(files, static file => Assert.True(new FileInfo(file).Length <= LargestFile, file));
    }

    [Fact]
    public void The_comparison_finds_a_byte_a_property_and_an_object_that_changed()
    {
        GoldenPack pack = Read(Path.Combine("0.1", "mirror-of-two.zip"));
        GoldenWrite[] writes = pack.Facts.Writes;
        GoldenCheck check = new(new GoldenPack
        {
            Facts = pack.Facts with { Writes = [.. writes[..^1], writes[^1] with { Seed = writes[^1].Seed + 1 }] },
            Disks = pack.Disks,
            State = pack.State,
        });
        JsonObject opened = check.Open();
        Assert.StartsWith($"virtual disk '{writes[^1].Disk}' at byte {writes[^1].Offset} ", Assert.Single(check.WrongBytes()));

        JsonObject recorded = pack.Opened!;
        recorded["VirtualDisk"]![0]!["Size"] = 1;
        recorded["StoragePool"]![0]!["Gone"] = null;
        recorded["PhysicalDisk"]!.AsArray().RemoveAt(0);
        Assert.Equal(
            ["/StoragePool[0]/Gone:", "/PhysicalDisk:", "/VirtualDisk[0]/Size:"],
            GoldenObjects.Differences(recorded, opened).Select(static difference => difference.Split(' ')[0]));
    }

    private static GoldenPack Read(string file) => GoldenPack.Read(Path.Combine(s_folder, file));

    private static Dictionary<string, long> Bytes(JsonObject objects) => objects["StorageJob"]!.AsArray().ToDictionary(
        static job => (string)job!["UniqueId"]!, static job => (long)job!["BytesProcessed"]!);
}
