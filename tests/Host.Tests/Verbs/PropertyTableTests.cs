using System.Text.Json;
using TierSpaces.Contracts;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Jobs;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.Tiering;
using TierSpaces.Engine.VirtualDisks;
using TierSpaces.Host.Attaching;
using TierSpaces.Host.Verbs.Mapping;
using TierSpaces.Host.Verbs.VirtualDisks;
using TierSpaces.Host.Verbs.Volumes;
using TierSpaces.Host.Volumes;

namespace TierSpaces.Host.Tests.Verbs;

/// <summary>
/// Every property of every object is computed, which shows in that it takes several values while a host is put through its paces, or it is
/// listed in Facts/properties.tsv with the one value it has and the reason.
/// </summary>
public sealed class PropertyTableTests : IAsyncLifetime
{
    private const string AnyValue = "*";   // one value for each machine

    private static readonly Dictionary<(string Class, string Property), (string Value, string Reason)> s_constants = File
        .ReadAllLines(Path.Combine(AppContext.BaseDirectory, "Facts", "properties.tsv")).Skip(1)
        .Select(line => line.Split('\t')).ToDictionary(cells => (cells[0], cells[1]), cells => (cells[2], cells[3]));

    private readonly Dictionary<(string Class, string Property), HashSet<string>> _seen = [];
    private InProcessHost _host = null!;

    public async ValueTask InitializeAsync() => _host = await InProcessHost.StartAsync();

    public ValueTask DisposeAsync() => _host.DisposeAsync();

    [Fact]
    public void Every_row_names_a_property_and_a_reason() => Assert.All(s_constants, row =>
    {
        Assert.Contains(Classes(), type => ClassOf(type) == row.Key.Class && type.GetProperty(row.Key.Property) is not null);
        Assert.NotEmpty(row.Value.Reason);
    });

    [Fact]
    public async Task A_property_is_computed_or_listed_as_constant()
    {
        await LookAsync();
        await PrepareAsync();
        await LookAsync();
        await LoseADiskAsync();
        await LookAsync();
        LookAtTroubles();
        LookAtPins();
        LookAtVolumes();

        string[] wrong = Classes().SelectMany(type => type.GetProperties()
                .Where(property => property.Name != DescriptionOf(type).Inner)   // another object, shown in place of this one
                .Select(property => (ClassOf(type), property.Name)))
            .Select(key => Complaint(key, _seen.GetValueOrDefault(key) ?? [])).Where(complaint => complaint.Length > 0).ToArray();
        Assert.True(wrong.Length == 0, string.Join('\n', wrong));
    }

    private static string Complaint((string Class, string Property) key, HashSet<string> values)
    {
        bool isListed = s_constants.TryGetValue(key, out (string Value, string Reason) row);
        return (isListed, values.Count) switch
        {
            (_, 0) => $"{key} was not seen at all",
            (false, 1) => $"{key.Class}\t{key.Property}\t{values.Single()}\tis not listed and was always this",
            (true, > 1) => $"{key} is listed as constant and was {string.Join(", ", values)}",
            (true, 1) when row.Value != AnyValue && !values.Contains(row.Value) => $"{key} is listed as {row.Value} and was {values.Single()}",
            _ => "",
        };
    }

    private async Task PrepareAsync()
    {
        IEnumerable<string> rotating = Enumerable.Range(1, 3).Select(i => _host.Image($"hdd{i}"));
        await OkAsync("New-PhysicalDisk", new()
        {
            ["Path"] = rotating, ["Size"] = 1 << 30, ["MediaType"] = "HDD", ["BusType"] = "SAS", ["SpindleSpeed"] = 7200, ["LogicalSectorSize"] = 512,
            ["PhysicalSectorSize"] = 512, ["IsWriteCacheEnabled"] = false, ["EnclosureNumber"] = 1, ["SlotNumber"] = 2,
        });
        await OkAsync("New-PhysicalDisk",
            new() { ["Path"] = new[] { _host.Image("emulated") }, ["Size"] = 128 << 20, ["LatencyProfile"] = "NVMe", ["LogicalSectorSize"] = 4096 });
        await OkAsync("New-StoragePool", new()
        {
            ["FriendlyName"] = "q", ["PhysicalDisks"] = new[] { "hdd*" }, ["ProvisioningTypeDefault"] = "Thin", ["ResiliencySettingNameDefault"] = "Simple",
        });
        await OkAsync("New-StoragePool", new() { ["FriendlyName"] = "r", ["PhysicalDisks"] = new[] { "emulated" } });
        await OkAsync("Set-PhysicalDisk", new() { ["FriendlyName"] = "hdd3", ["Description"] = "the third", ["Usage"] = "HotSpare" });
        await OkAsync("Set-StoragePool", new()
        {
            ["FriendlyName"] = "q", ["ThinProvisioningAlertThresholds"] = new[] { 50 }, ["RetireMissingPhysicalDisks"] = "Never", ["ScrubIntervalDays"] = 3,
            ["IsPowerProtected"] = true, ["RepairPolicy"] = "Sequential",
        });
        await OkAsync("Set-StorageSubSystem", new() { ["FriendlyName"] = "*", ["VirtualDiskRepairQueueDepth"] = "Low" });
        await OkAsync("Set-ResiliencySetting", new()
        {
            ["Name"] = new[] { "Mirror" }, ["StoragePool"] = "q", ["NumberOfDataCopiesDefault"] = 3, ["NumberOfColumnsDefault"] = 1,
                ["InterleaveDefault"] = 65536,
        });
        await OkAsync("New-VirtualDisk", new()
        {
            ["StoragePoolFriendlyName"] = new[] { "q" }, ["FriendlyName"] = "w", ["Size"] = 8 << 20, ["NumberOfColumns"] = 1, ["Interleave"] = 65536,
            ["LogicalSectorSize"] = 512, ["Checksum"] = "None", ["IsManualAttach"] = true, ["MediaType"] = "HDD", ["Usage"] = "Unrestricted",
            ["OtherUsageDescription"] = "a test",
        });
        await OkAsync("Set-VirtualDisk", new() { ["FriendlyName"] = "w", ["Access"] = "Readable" });
        await OkAsync("New-VirtualDisk",
            new() { ["StoragePoolFriendlyName"] = new[] { "q" }, ["FriendlyName"] = "x", ["Size"] = 8 << 20, ["ProvisioningType"] = "Fixed" });
        await OkAsync("New-VirtualDisk", new()
        {
            ["StoragePoolFriendlyName"] = new[] { "p" }, ["FriendlyName"] = "parity", ["Size"] = 2 << 20, ["ResiliencySettingName"] = "Parity",
            ["NumberOfColumns"] = 3, ["ProvisioningType"] = "Thin", ["WriteCacheSize"] = 0,
        });
        await OkAsync("Set-StoragePool", new() { ["FriendlyName"] = "p", ["WriteCacheSizeDefault"] = 4 << 20 });
        await OkAsync("New-VirtualDisk", new() { ["StoragePoolFriendlyName"] = new[] { "p" }, ["FriendlyName"] = "c", ["Size"] = 8 << 20 });
        await OkAsync("Set-StoragePool", new() { ["FriendlyName"] = "p", ["LentWriteCacheSizeMax"] = 64 << 20 });
        await OkAsync("New-VirtualDisk", new()
        {
            ["StoragePoolFriendlyName"] = new[] { "q" }, ["FriendlyName"] = "remote", ["Size"] = 8 << 20, ["CachePool"] = "p", ["WriteCacheSize"] = 1 << 20,
        });
        await OkAsync("New-StorageTier", new()
        {
            ["StoragePoolFriendlyName"] = new[] { "q" }, ["FriendlyName"] = "slow", ["MediaType"] = "HDD", ["ResiliencySettingName"] = "Simple",
            ["NumberOfColumns"] = 2, ["Interleave"] = 65536, ["ProvisioningType"] = "Thin", ["Description"] = "a test",
        });
        await OkAsync("New-StorageTier", new()
        {
            ["StoragePoolFriendlyName"] = new[] { "q" }, ["FriendlyName"] = "capacity", ["MediaType"] = "HDD", ["ResiliencySettingName"] = "Parity",
        });
        await OkAsync("New-PhysicalDisk", new() { ["Path"] = new[] { _host.Image("tier1") }, ["Size"] = 128 << 20, ["MediaType"] = "SSD" });
        await OkAsync("New-PhysicalDisk", new() { ["Path"] = new[] { _host.Image("tier2") }, ["Size"] = 128 << 20, ["MediaType"] = "HDD" });
        await OkAsync("New-StoragePool", new() { ["FriendlyName"] = "m", ["PhysicalDisks"] = new[] { "tier?" }, ["ResiliencySettingNameDefault"] = "Simple" });
        await OkAsync("New-StorageTier", new() { ["StoragePoolFriendlyName"] = new[] { "m" }, ["FriendlyName"] = "upper", ["MediaType"] = "SSD" });
        await OkAsync("New-StorageTier", new() { ["StoragePoolFriendlyName"] = new[] { "m" }, ["FriendlyName"] = "lower", ["MediaType"] = "HDD" });
        await OkAsync("New-VirtualDisk", new()
        {
            ["StoragePoolFriendlyName"] = new[] { "m" }, ["FriendlyName"] = "tiered", ["StorageTiers"] = new[] { "upper", "lower" },
            ["StorageTierSizes"] = new[] { 4 << 20, 8 << 20 }, ["WriteCacheSize"] = 0,
        });
        await OkAsync("Set-VirtualDisk", new() { ["FriendlyName"] = "tiered", ["MinimumHeat"] = 7, ["DemoteColdAfter"] = 24, ["HeatHalfLife"] = 12 });
        await PrepareFaultDomainsAsync();
        await OkAsync("Repair-VirtualDisk", new() { ["FriendlyName"] = new[] { "v" } });
        await OkAsync("Optimize-StoragePool", new() { ["FriendlyName"] = new[] { "q" } });
        await OkAsync("Set-StoragePool", new() { ["FriendlyName"] = "q", ["IsReadOnly"] = true });
    }

    private async Task PrepareFaultDomainsAsync()
    {
        foreach (int number in (int[])[7, 8])
        {
            await OkAsync("New-PhysicalDisk", new()
            {
                ["Path"] = new[] { _host.Image($"apart{number}") }, ["Size"] = 128 << 20, ["BusType"] = number == 7 ? "SAS" : "SATA",
                ["EnclosureNumber"] = number, ["StorageRackId"] = $"rack{number}",
            });
        }

        await OkAsync("New-StoragePool", new()
        {
            ["FriendlyName"] = "apart", ["PhysicalDisks"] = new[] { "apart?" }, ["EnclosureAwareDefault"] = true,
        });
        await OkAsync("New-VirtualDisk", new()
        {
            ["StoragePoolFriendlyName"] = new[] { "apart" }, ["FriendlyName"] = "apart", ["Size"] = 8 << 20, ["WriteCacheSize"] = 0,
            ["ColumnIsolation"] = "StorageRack",
        });
        await OkAsync("New-StorageTier", new()
        {
            ["StoragePoolFriendlyName"] = new[] { "apart" }, ["FriendlyName"] = "wide", ["MediaType"] = "SSD", ["FaultDomainAwareness"] = "StorageRack",
            ["ColumnIsolation"] = "StorageEnclosure",
        });
    }

    /// <summary>The host finds a disk of p gone when it starts again.</summary>
    private async Task LoseADiskAsync()
    {
        await _host.CloseAsync();
        File.Delete(_host.Image("b"));
        File.Delete(_host.Image("apart8"));
        await _host.OpenAsync();
    }

    private async Task OkAsync(string verb, Dictionary<string, object?> request) =>
        Assert.Equal("[]", (await _host.SendAsync(verb, request)).GetProperty("Errors").ToString());

    private async Task LookAsync()
    {
        foreach (string verb in (string[])["Get-PhysicalDisk", "Get-StoragePool", "Get-VirtualDisk", "Get-StorageSubSystem", "Get-ResiliencySetting",
            "Get-StorageJob", "Get-StorageTier", "Get-StorageEnclosure", "Get-StorageFaultDomain", "Get-StorageNode"])
        {
            Note(verb, await _host.SendAsync(verb, []));
        }

        Note("Get-StorageReliabilityCounter", await _host.SendAsync("Get-StorageReliabilityCounter", new() { ["PhysicalDisk"] = "*" }));
        foreach (JsonElement disk in (await _host.SendAsync("Get-VirtualDisk", [])).GetProperty("Objects").EnumerateArray())
        {
            Note("Get-PhysicalExtent", await _host.SendAsync("Get-PhysicalExtent", new() { ["VirtualDisk"] = disk.GetProperty("UniqueId").GetString() }));
        }
    }

    /// <summary>States that take clients, failing disks or hours: as the engine would report them.</summary>
    private void LookAtTroubles()
    {
        Note("Get-StorageJob", new JobStatus
        {
            UniqueId = Guid.NewGuid(), Name = "Scrub", Description = "Verifies", PoolId = Guid.NewGuid(), VirtualDisk = Guid.NewGuid(),
                State = JobState.Exception,
            ErrorDescription = "disk failed", PercentComplete = 40, Elapsed = TimeSpan.FromHours(1), TimeLeft = TimeSpan.FromHours(2),
            Found = new ScrubCounts(Verified: 4, Healed: 3, Lost: 2, Differing: 1),
        }.ToInfo());
        VirtualDiskDescription description =
            new VirtualDiskDescription { Id = new VirtualDiskId(Guid.NewGuid()), FriendlyName = "y", ResiliencySettingName = "Simple", SizeBytes = 1 };
        Note("Get-VirtualDisk", new VirtualDiskStatus
        {
            Description = description, PoolId = Guid.NewGuid(), Health = Engine.Pools.HealthStatus.Warning, StatusReason = "a disk is full",
                SocketPath = "/y.sock", Lane = 77,
            Counters = new IoCounters { ReadModifyWrites = 3 },
            BlocksTakenWithoutProof = 4,
        }.ToInfo(1, new AttachOutcome("nbdfuse", "/dev/y", "the kernel has no nbd"), "nbd://127.0.0.1:10809/y"));
        Note("Get-PhysicalExtent", new ExtentMapping().ToInfo(
            new PhysicalExtent(Guid.NewGuid(), Guid.NewGuid(), Column: 9, Copy: 9, 9, 9, 9, IsMissing: false, IsStale: true)));
        Note("Get-StorageReliabilityCounter", new DiskReliability
        {
            ReadErrors = 1, WriteErrors = 2, FlushErrors = 3, ChecksumMismatches = 4, BlocksHealed = 5, BlocksLost = 6, ReadNsMax = 7 << 20,
                WriteNsMax = 8 << 20,
            FlushNsMax = 9 << 20,
        }.ToInfo(new PhysicalDiskStatus { UniqueId = Guid.NewGuid(), DeviceId = 77, FriendlyName = "worn" }));
    }

    /// <summary>A file takes a file system on a connected disk: pins as the engine would tell them.</summary>
    private void LookAtPins()
    {
        TierDescription[] tiers =
            ((string[])["fast", "slow"]).Select((name, number) =>
                new TierDescription { Id = Guid.NewGuid(), Number = number, FriendlyName = name, ResiliencySettingName = "Simple", SizeBytes = 8,
                    SpaceBytes = 8 }).ToArray();
        VirtualDiskDescription disk =
            new VirtualDiskDescription { Id = new VirtualDiskId(Guid.NewGuid()), FriendlyName = "z", ResiliencySettingName = "Simple", SizeBytes = 16,
            Tiers = [.. tiers] };
        foreach ((string? path, int tier, long[]? bytesOn) in ((string, int, long[])[])[("/f", 0, [0, 5]), ("/g", 1, [2, 6]), ("", 1, [0, 8])])
        {
            Pin pin = new Pin(Guid.NewGuid(), tier, path, [new PinnedRange(0, bytesOn.Sum())]);
            Note("Get-FileStorageTier",
                new PinStatus(pin, disk with { Id = new VirtualDiskId(Guid.NewGuid()) }, tiers[tier], bytesOn, IsMoving: tier == 0).ToInfo());
        }
    }

    /// <summary>Disks take a block device: as they would be read.</summary>
    private void LookAtVolumes()
    {
        VolumePartition first = new VolumePartition
        {
            Number = 1, Offset = 1 << 20, Size = 8 << 20, Node = "/dev/null", Key = "{1}", Guid = "{1}", GptType = PartitionType.BasicData,
            FileSystem = new FoundFileSystem("ext4", "l", "u", 4096),
        };
        VolumePartition second = first with
        {
            Number = 2, Offset = 9 << 20, Size = 4 << 20, Node = "/dev/none", Key = "s-2", Guid = null, GptType = null, MbrType = 0x16, IsActive = true,
                FileSystem = null,
            Attributes = new HashSet<int> { VolumePartition.ReadOnlyBit, VolumePartition.ShadowCopyBit, VolumePartition.NoDriveLetterBit },
        };
        VolumePartition third = second with { MbrType = null, GptType = "{c12a7328-f81f-11d2-ba4b-00a0c93ec93b}" };
        foreach ((VolumeDisk disk, bool isFirst) in ((VolumeDisk, bool)[])[(Disk(1), true), (Disk(2), false)])
        {
            Note("Get-Disk", disk.ToInfo());
            MountEntry[] mounts = isFirst ? [new MountEntry("", "", "/mnt/E", "E", MadeFolder: true)] : [];
            foreach (VolumePartition partition in (VolumePartition[])[first, second, third])
            {
                VolumeTarget target = new VolumeTarget(disk, partition);
                Note("Get-Partition", target.ToInfo(mounts, isOffline: isFirst));
                Note("Get-Volume", target.ToInfo(isFirst
                    ? new VolumeFacts { Letter = "E", MountPoints = ["/mnt/E"], Space = new SpaceAmount(7, 5, 3), Requested = "ReFS" }
                    : new VolumeFacts { Faults = ["Not mounted."], HasErrors = true }));
            }
        }

        VolumeDisk Disk(int number) => new()
        {
            Device = $"/dev/loop{number}", Path = $"/dev/{number}", Entry = new DiskEntry($"{number}", number, IsOffline: number == 2, IsReadOnly: number == 2),
            Size = number << 26,
            Status = new VirtualDiskStatus
            {
                PoolId = Guid.NewGuid(), Health = number == 2 ? Engine.Pools.HealthStatus.Warning : Engine.Pools.HealthStatus.Healthy,
                StatusReason = number == 2 ? "a disk is missing" : "",
                Description = new VirtualDiskDescription
                {
                    Id = new VirtualDiskId(Guid.NewGuid()), FriendlyName = $"d{number}", ResiliencySettingName = "Simple", SizeBytes = number << 26,
                    LogicalSectorSize = number == 2 ? (ushort)512 : (ushort)4096, PhysicalSectorSize = number == 2 ? (ushort)512 : (ushort)4096,
                    ProvisioningType = number == 2 ? Engine.Formats.ProvisioningType.Thin : Engine.Formats.ProvisioningType.Fixed,
                },
            },
            Contents = number == 2
                ? new DiskContents { Style = PartitionStyle.MBR, Signature = 7, Usable = (1 << 20, 64 << 20), Partitions = [first] }
                : new DiskContents { Style = PartitionStyle.GPT, Guid = "{7}", Usable = (1 << 20, 32 << 20), Partitions = [first, second] },
        };
    }

    private void Note<TInfo>(string verb, TInfo info)
        where TInfo : class
    {
        byte[] json = JsonSerializer.SerializeToUtf8Bytes(info, ContractsJson.Default.GetTypeInfo(typeof(TInfo))!);
        Note(verb, JsonDocument.Parse($"{{\"Objects\":[{System.Text.Encoding.UTF8.GetString(json)}]}}").RootElement);
    }

    private void Note(string verb, JsonElement reply)
    {
        string name = ClassOf(VerbDescription.Find(verb)!.OutputType);
        foreach (JsonProperty property in reply.GetProperty("Objects").EnumerateArray().SelectMany(Properties))
        {
            (string name, string Name) key = (name, property.Name);
            _seen[key] = _seen.GetValueOrDefault(key) ?? [];
            _seen[key].Add(property.Value.ToString());
        }
    }

    /// <summary>
    /// Returns the properties to compare. The primordial pool, which contains every disk, leaves out properties of concrete pools and proves nothing about
    /// them.
    /// </summary>
    private static IEnumerable<JsonProperty> Properties(JsonElement info) => info.EnumerateObject()
        .Where(property => !info.TryGetProperty("IsPrimordial", out JsonElement primordial) || !primordial.GetBoolean() || property.Name == "IsPrimordial");

    /// <summary>Properties of Windows; ours have their own tests.</summary>
    private static IEnumerable<Type> Classes() => VerbDescription.All.Select(verb => verb.OutputType).Distinct()
        .Where(type => ClassOf(type).StartsWith("MSFT_", StringComparison.Ordinal));

    private static string ClassOf(Type info) => DescriptionOf(info).Name;

    private static WindowsClassAttribute DescriptionOf(Type info) => (WindowsClassAttribute)Attribute.GetCustomAttribute(info, typeof(WindowsClassAttribute))!;
}
