using System.Diagnostics;
using System.Globalization;
using TierSpaces.Contracts;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Verification;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs.Mapping;
using TierSpaces.Host.Verbs.StoragePools;
using VirtualDiskDescription = TierSpaces.Engine.Formats.VirtualDiskDescription;

namespace TierSpaces.Host.Verbs.Subsystems;

/// <summary>
/// Test-StoragePowerCut: tries layouts one after the other, each on a thread of its own beside everything else. It ends early when its
/// caller goes away, when the host is to stop, and at its time limit.
/// </summary>
internal sealed class TestStoragePowerCutHandler(HostServices services) : VerbHandler<TestStoragePowerCutRequest, StoragePowerCutInfo>, ILongVerb
{
    private const uint TimeLimitDefault = 600;
    private const uint TimeLimitMax = 86_400;
    private readonly SemaphoreSlim _turn = new(1, 1);   // one at a time: each may keep a processor busy

    /// <inheritdoc/>
    protected override async Task HandleAsync(
        TestStoragePowerCutRequest request, ReplyBuilder<StoragePowerCutInfo> reply, CancellationToken cancellation)
    {
        TimeSpan limit = TimeLimitOf(request);
        foreach ((string name, VirtualDiskRequest layout, VirtualDiskDescription? disk) in await LayoutsAsync(request, reply.Fail).ConfigureAwait(false))
        {
            await _turn.WaitAsync(cancellation).ConfigureAwait(false);
            try
            {
                await reply.TryAsync(() => TryOneAsync(name, Translate(request, layout, disk), limit, reply, cancellation)).ConfigureAwait(false);
            }
            finally
            {
                _turn.Release();
            }
        }
    }

    private async Task TryOneAsync(
        string name, PowerCutRequest request, TimeSpan limit, ReplyBuilder<StoragePowerCutInfo> reply, CancellationToken cancellation)
    {
        Stopwatch watch = Stopwatch.StartNew();
        bool MayGoOn() => !cancellation.IsCancellationRequested && !services.StopRequested.IsCompleted && watch.Elapsed < limit;
        PowerCutResult result = await BackgroundThread.RunAsync("power cuts", () => PowerCuts.Run(request, MayGoOn)).ConfigureAwait(false);
        cancellation.ThrowIfCancellationRequested();
        if (result.Cuts < request.Cuts)
        {
            string why = services.StopRequested.IsCompleted ? "The host stops" : $"The time limit of {limit.TotalSeconds} seconds is over";
            reply.Warn($"{why}: {result.Cuts} of {request.Cuts} power cuts were made.");
        }

        reply.Add(Describe(name, request, result, watch.Elapsed));
        if (result.Violations > 0)
        {
            throw new StorageException(
                StorageErrors.Failed, $"{result.Violations} of {result.CrashStates} crash states broke the promise; the first: {result.ViolationDescriptions[0]}.",
                $"Run it again with -Seed {request.Seed} to see the same.", name);
        }
    }

    private static TimeSpan TimeLimitOf(TestStoragePowerCutRequest request)
    {
        uint seconds = request.TimeLimitSeconds ?? TimeLimitDefault;
        return seconds is >= 1 and <= TimeLimitMax ? TimeSpan.FromSeconds(seconds) : throw new StorageException(
            StorageErrors.InvalidParameter, $"-TimeLimitSeconds {seconds}: out of range. Valid: 1 to {TimeLimitMax}.", target: nameof(request.TimeLimitSeconds));
    }

    /// <summary>The layout that was described, or those of existing virtual disks with their names.</summary>
    private async Task<IEnumerable<(string Name, VirtualDiskRequest Layout, VirtualDiskDescription? Disk)>> LayoutsAsync(
        TestStoragePowerCutRequest request, Action<StorageErrorInfo> fail)
    {
        if ((request.FriendlyName ?? request.UniqueId ?? request.InputObject) is null)
        {
            return [("", LayoutOf(request), null)];
        }

        Catalogue all = await Catalogue.ReadAsync(services).ConfigureAwait(false);
        return all.VirtualDisks.Select(request.FriendlyName, request.UniqueId, null, request.InputObject, fail)
            .Select(disk => (disk.Description.FriendlyName, LayoutOf(disk.Description),
                disk.Description is { IsTiered: false, WriteCacheSize: 0 } ? null : disk.Description));
    }

    private static VirtualDiskRequest LayoutOf(TestStoragePowerCutRequest request) => new()
    {
        FriendlyName = "power cut",
        ResiliencySettingName = request.ResiliencySettingName,
        NumberOfColumns = request.NumberOfColumns,
        NumberOfDataCopies = request.NumberOfDataCopies,
        PhysicalDiskRedundancy = request.PhysicalDiskRedundancy,
        Interleave = request.Interleave is { } interleave ? Amount.Bytes(interleave, nameof(request.Interleave)) : null,
        LogicalSectorSize = Amount.Sector(request.LogicalSectorSize, nameof(request.LogicalSectorSize)),
        ProvisioningType = PoolSettings.Provisioning(request.ProvisioningType, nameof(request.ProvisioningType)),
        Checksum = (Engine.Formats.ChecksumKind)(request.Checksum ?? ChecksumKind.CRC32C),
    };

    private static VirtualDiskRequest LayoutOf(VirtualDiskDescription disk) => new()
    {
        FriendlyName = "power cut",
        ResiliencySettingName = disk.ResiliencySettingName,
        NumberOfColumns = disk.NumberOfColumns,
        NumberOfDataCopies = disk.NumberOfDataCopies,
        Interleave = disk.Interleave,
        LogicalSectorSize = disk.LogicalSectorSize,
        ProvisioningType = disk.ProvisioningType,
        Checksum = disk.Checksum,
    };

    private static PowerCutRequest Translate(
        TestStoragePowerCutRequest request, VirtualDiskRequest layout, VirtualDiskDescription? disk) => new()
    {
        Disk = disk,
        Layout = layout with { SizeBytes = request.Size is { } size ? Amount.Bytes(size, nameof(request.Size)) : null },
        Cuts = (int)Math.Min(int.MaxValue, request.Cuts ?? PowerCuts.CutsDefault),
        Seed = request.Seed ?? (uint)Random.Shared.NextInt64(uint.MaxValue),
        FlushLies = request.FlushLies,
    };

    private static StoragePowerCutInfo Describe(string name, PowerCutRequest request, PowerCutResult result, TimeSpan elapsed) => new()
    {
        FriendlyName = name,
        ResiliencySettingName = result.Layout.ResiliencySettingName,
        NumberOfColumns = (ushort)result.Layout.NumberOfColumns,
        NumberOfDataCopies = (ushort)result.Layout.NumberOfDataCopies,
        Interleave = (ulong)result.Layout.Interleave,
        LogicalSectorSize = (ulong)result.Layout.LogicalSectorSize,
        ProvisioningType = result.Layout.ProvisioningType.ToString(),
        Checksum = result.Layout.Checksum.ToString(),
        Size = (ulong)result.Layout.SizeBytes,
        WriteCacheSize = (ulong)result.Layout.WriteCacheSize,
        NumberOfTiers = (ushort)result.Layout.Tiers.Length,
        Cuts = (ulong)result.Cuts,
        CutsWhileRecovering = (ulong)result.CutsWhileRecovering,
        CrashStates = (ulong)result.CrashStates,
        SectorsVerified = (ulong)result.SectorsVerified,
        Writes = (ulong)result.Writes,
        Flushes = (ulong)result.Flushes,
        Violations = (ulong)result.Violations,
        ViolationDescriptions = [.. result.ViolationDescriptions],
        Seed = (uint)request.Seed,
        ElapsedTime = TimeSpan.FromSeconds(Math.Floor(elapsed.TotalSeconds)).ToString("c", CultureInfo.InvariantCulture),
    };
}
