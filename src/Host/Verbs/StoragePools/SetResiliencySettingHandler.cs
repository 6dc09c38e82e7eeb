using System.Numerics;
using TierSpaces.Contracts;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs.Mapping;

namespace TierSpaces.Host.Verbs.StoragePools;

/// <summary>Set-ResiliencySetting: changes the defaults of a layout in its pool.</summary>
internal sealed class SetResiliencySettingHandler(HostServices services)
    : VerbHandler<SetResiliencySettingRequest, ResiliencySettingInfo>
{
    /// <inheritdoc/>
    protected override async Task HandleAsync(
        SetResiliencySettingRequest request, ReplyBuilder<ResiliencySettingInfo> reply, CancellationToken cancellation)
    {
        Catalogue all = await Catalogue.ReadAsync(services).ConfigureAwait(false);
        StoragePoolStatus? pool = request.StoragePool is { } named ? all.Pools.One(named).Concrete : null;
        foreach (ResiliencyTarget? target in all.Settings.Select(null, request.UniqueId, request.Name, request.InputObject, reply.Fail)
            .Where(target => pool is null || target.Pool.UniqueId == pool.UniqueId))
        {
            await reply.TryAsync(async () =>
            {
                ResiliencyDefaults changed = Change(target, request);
                string step = $"Set {request.Changes()} of {target.Setting.Name} in storage pool '{target.Pool.Description.FriendlyName}'";
                await reply.DoAsync(step, async () =>
                {
                    StoragePoolStatus status = await services.Subsystem.Pools.SetAsync(
                        target.Pool.UniqueId, settings => Replace(settings, changed)).ConfigureAwait(false);
                    reply.Add(request.PassThru ? [new ResiliencyTarget(status, changed).ToInfo()] : []);
                }).ConfigureAwait(false);
            }).ConfigureAwait(false);
        }
    }

    private static PoolDescription Replace(PoolDescription settings, ResiliencyDefaults changed) => settings with
    {
        ResiliencySettings = [.. settings.ResiliencySettings.Select(setting => setting.Name == changed.Name ? changed : setting)],
    };

    private static ResiliencyDefaults Change(ResiliencyTarget target, SetResiliencySettingRequest request)
    {
        ResiliencyDefaults setting = target.Setting;
        Check(request.NumberOfDataCopiesDefault, target.Copies, StorageErrors.CopiesRange, nameof(request.NumberOfDataCopiesDefault));
        Check(
            request.PhysicalDiskRedundancyDefault, target.Redundancy, StorageErrors.RedundancyRange,
            nameof(request.PhysicalDiskRedundancyDefault));
        Check(
            request.NumberOfColumnsDefault, (target.ColumnsMin, ResiliencyTarget.ColumnsMax), StorageErrors.ColumnsRange,
            nameof(request.NumberOfColumnsDefault));
        RefuseContradictions(request);
        bool isMirror = setting.Name == "Mirror";
        ushort copies = request.NumberOfDataCopiesDefault
            ?? (isMirror ? (ushort?)(request.PhysicalDiskRedundancyDefault + 1) : null)
            ?? setting.NumberOfDataCopiesDefault;
        return setting with
        {
            NumberOfDataCopiesDefault = copies,
            PhysicalDiskRedundancyDefault = isMirror
                ? (ushort)(copies - 1)
                : request.PhysicalDiskRedundancyDefault ?? setting.PhysicalDiskRedundancyDefault,
            NumberOfColumnsDefault =
                request.AutoNumberOfColumns ? (ushort)0 : request.NumberOfColumnsDefault ?? setting.NumberOfColumnsDefault,
            InterleaveDefault = Interleave(target, request.InterleaveDefault) ?? setting.InterleaveDefault,
        };
    }

    private static void RefuseContradictions(SetResiliencySettingRequest request)
    {
        if (request is { NumberOfDataCopiesDefault: { } copies, PhysicalDiskRedundancyDefault: { } redundancy } && copies > 1 && copies != redundancy + 1)
        {
            throw new StorageException(
                StorageErrors.CopiesRange,
                $"-NumberOfDataCopiesDefault {copies} contradicts -PhysicalDiskRedundancyDefault {redundancy}, which means {redundancy + 1} copies.",
                "Give one of them.", nameof(request.NumberOfDataCopiesDefault));
        }

        if (request is { AutoNumberOfColumns: true, NumberOfColumnsDefault: { } columns })
        {
            throw new StorageException(
                StorageErrors.ColumnsRange, $"-NumberOfColumnsDefault {columns} contradicts -AutoNumberOfColumns.", "Give one of them.",
                nameof(request.NumberOfColumnsDefault));
        }
    }

    private static void Check(ushort? value, (ushort Min, ushort Max) range, StorageErrorKind kind, string parameter)
    {
        if (value < range.Min || value > range.Max)
        {
            throw new StorageException(kind, $"-{parameter} {value}: out of range. Valid: {range.Min} to {range.Max}.", target: parameter);
        }
    }

    private static uint? Interleave(ResiliencyTarget target, ulong? value) =>
        value is null || (value >= ResiliencyTarget.InterleaveMin && value <= target.InterleaveMax && BitOperations.IsPow2(value.Value))
            ? (uint?)value
            : throw new StorageException(
                StorageErrors.InterleaveRange,
                $"-InterleaveDefault {SizeText.Exact(value ?? 0)} is not a power of two from {SizeText.Exact(ResiliencyTarget.InterleaveMin)} to {SizeText.Exact(target.InterleaveMax)}, which is the most for "
                + $"{target.Setting.Name} in storage pool '{target.Pool.Description.FriendlyName}'.");
}
