using System.Collections.Immutable;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

// Making a pool, in this order:
//
//  1. areas cleared, checkpoints written
//  2. superblocks that say "forming", then labels: from here the disks are of ours, but of no pool yet
//  3. the witness file
//  4. superblocks that do not say "forming", with the view settled: from the first of them on there is a pool
//
// A crash before 4 leaves disks that a scan calls Forming, which may be pooled again; a crash in 4 leaves a pool that
// opens, because everyone holds the same view.

/// <summary>Makes a pool of blank disks.</summary>
internal static class PoolCreator
{
    /// <summary>Makes the pool, or takes back what was written and says why not.</summary>
    /// <exception cref="PoolException">It could not be made.</exception>
    internal static async LaneTask<MetadataStore> Create(PoolEnvironment environment, NewPoolSpec spec, IReadOnlyList<NewDiskSpec> disks)
    {
        await Check(environment, disks);
        PoolId id = new(environment.Lane.NewGuid());
        PoolState state = InitialState(environment, spec, disks);
        if (WhyNoPages(state) is { Length: > 0 } reason)
        {
            throw new PoolException(reason);
        }

        MetadataStore store = NewStore(environment, id, state);
        MemberDisk[] members = [.. state.Disks.Values.Select((disk, i) => Member(environment, id, disk.Description, state, disks[i].Disk))];
        foreach (MemberDisk member in members)
        {
            store.Attach(member);
            store.Members.Add(member);
            member.FailWhenFull();   // a full file system refuses the pool
        }

        string problem = await Write(store, members, new Witness(environment.State, id));
        if (problem.Length > 0)
        {
            await TakeBack(environment, members);
            throw new PoolException(problem);
        }

        Array.ForEach(members, static member => member.WaitWhenFull());
        return store;
    }

    /// <summary>Returns the reason why the metadata of a new pool has no pages for its disks; empty if it has.</summary>
    internal static string WhyNoPages(PoolEnvironment environment, NewPoolSpec spec, IReadOnlyList<NewDiskSpec> disks) =>
        WhyNoPages(InitialState(environment, spec, disks));

    /// <summary>Describes a disk that joins.</summary>
    internal static DiskDescription Describe(NewDiskSpec spec, DiskNumber number, DiskId id, SlabGeometry slabs)
    {
        DiskIdentity identity = spec.Disk.Identity;
        return DiskLayout.TryCreate(spec.Disk.Geometry.Length, slabs, out DiskLayout layout, out string reason)
            ? new DiskDescription
            {
                Number = number,
                Id = id,
                FriendlyName = spec.FriendlyName,
                SizeBytes = layout.DiskBytes,
                SlabCount = layout.SlabCount,
                MediaTypeCode = (ushort)(spec.MediaType ?? identity.MediaType),
                BusTypeCode = (ushort)identity.BusType,
                LogicalSectorSize = (ushort)identity.LogicalSectorSize,
                PhysicalSectorSize = (ushort)identity.PhysicalSectorSize,
                SpindleSpeed = identity.SpindleSpeed,
                Usage = spec.Usage,
                FaultDomainPath = spec.FaultDomainPath,
                EnclosureNumber = spec.EnclosureNumber,
                SlotNumber = spec.SlotNumber,
                SerialNumber = spec.SerialNumber ?? identity.SerialNumber,
                Model = identity.Model,
                Manufacturer = identity.Manufacturer,
                FirmwareVersion = identity.FirmwareVersion,
                Description = spec.Description,
            }
            : throw new PoolException($"{identity.Uri}: {reason}");
    }

    /// <summary>Checks that disks may join a pool: blank, distinct, without data of other software or pools.</summary>
    /// <exception cref="PoolException">One may not.</exception>
    internal static async LaneTask Check(PoolEnvironment environment, IReadOnlyList<NewDiskSpec> disks)
    {
        if (disks.Count is < 1 or > PoolView.MaxMembers)
        {
            throw new PoolException($"{disks.Count} disks were given; 1 to {PoolView.MaxMembers} are possible.");
        }

        HashSet<string> keys = [];
        foreach (NewDiskSpec spec in disks)
        {
            if (!keys.Add(spec.Disk.Identity.DeviceKey))
            {
                throw new PoolException($"{spec.Disk.Identity.Uri} was given twice.");
            }

            PoolScan scan = await PoolScan.Scan(environment.Lane, spec.Disk);
            if (scan.Kind is not (ScanKind.Blank or ScanKind.Forming))
            {
                throw new PoolException(scan.Reason);
            }
        }
    }

    internal static MemberDisk Member(PoolEnvironment environment, PoolId pool, DiskDescription disk, PoolState state, IDisk device)
    {
        DiskLabel label = new(
            pool, disk.Id, disk.Number, disk.SizeBytes, state.Pool!.Slabs, environment.Lane.UtcNow.UtcTicks, default);
        return new MemberDisk(environment.Lane, device, label);
    }

    private static PoolState InitialState(PoolEnvironment environment, NewPoolSpec spec, IReadOnlyList<NewDiskSpec> disks)
    {
        SlabGeometry slabs = SlabGeometry.ForSmallestDisk(disks.Min(static disk => disk.Disk.Geometry.Length));
        PoolDescription settings = spec.Settings ?? new PoolDescription { FriendlyName = spec.FriendlyName, Slabs = slabs };
        settings = settings with
        {
            FriendlyName = spec.FriendlyName, Slabs = slabs, CreatedUtcTicks = environment.Lane.UtcNow.UtcTicks, FormatVersion = spec.FormatVersion,
        };
        PoolState state = Apply(PoolState.Empty, new PoolCreated(settings));
        foreach (NewDiskSpec disk in disks)
        {
            state = Apply(state, new DiskAdded(Describe(disk, state.NextDisk, new DiskId(environment.Lane.NewGuid()), slabs)));
        }

        return Apply(state, new SessionOpened(1, environment.NodeId, environment.Lane.NextRandom(), environment.Lane.UtcNow.UtcTicks));
    }

    private static string WhyNoPages(PoolState state)
    {
        List<DiskNumber> metadata = MetadataElection.Choose(Descriptions(state), Descriptions(state), []);
        return MemberPages.WhyNot(state, metadata.Min(disk => CheckpointStore.MostStatePages(Pool.Layout(state, disk))), static _ => true);
    }

    private static IEnumerable<DiskDescription> Descriptions(PoolState state) => state.Disks.Values.Select(static disk => disk.Description);

    private static PoolState Apply(PoolState state, MetadataRecord record) =>
        state.TryApply(record, out PoolState? next, out string reason) ? next : throw new PoolException(reason);

    private static MetadataStore NewStore(PoolEnvironment environment, PoolId id, PoolState state)
    {
        List<DiskNumber> metadata = MetadataElection.Choose(Descriptions(state), Descriptions(state), []);
        ImmutableArray<ViewMember> members = [.. state.Disks.Keys.Select(disk => new ViewMember(disk, metadata.Contains(disk)))];
        PoolView view = new()
        {
            Rank = new ViewRank(1, 1),
            Synced = default,
            Members = members,
            Witness = environment.Lane.NewGuid(),
            MembersVote = state.Pool!.MembersVote,
        };
        MemberHistory history = MemberHistory.None with { Opening = new SessionToken(1, state.Session!.FencingToken) };
        MetadataStore store = new(
            environment, new StoreStart(id, view, Session: 1, Epoch: 0, state, new JournalPosition(0, 1, 0), history)
            {
                IsForming = true, Lease = state.Pool!.HasLease ? new LeaseHolder(environment, history.Opening) : null,
            });
        store.Hold();
        return store;
    }

    private static async LaneTask<string> Write(MetadataStore store, MemberDisk[] members, Witness witness)
    {
        string problem = await ForEach(members, static member => member.ClearAreas());
        problem = problem.Length > 0 ? problem : await ForEach(members, store.PrepareLease);
        problem = problem.Length > 0 ? problem
            : await ForEach(members, member => store.Members.View.IsMetadata(member.Number)
                ? member.Checkpoints.Write(store.State, store.Head)
                : LaneTask.FromResult(IoError.None));
        problem = problem.Length > 0 || (await store.Superblocks.WriteSuperblocks(store.Members.View, members, clean: false)).Count == members.Length
            ? problem
            : "Writing a superblock failed.";
        problem = problem.Length > 0 ? problem : await ForEach(members, static member => member.WriteLabels());
        if (problem.Length > 0 || !await witness.TryWrite(
            new WitnessRecord(store.Id, store.Members.View.Witness, store.Session, store.Members.View) { History = store.Superblocks.History }))
        {
            return problem.Length > 0 ? problem : "The witness file cannot be written to the host's state folder.";
        }

        store.Superblocks.EndForming();
        await store.Views.Settle();
        return Array.TrueForAll(members, member => store.Members.IsUsable(member.Number)) ? "" : "Writing a superblock failed.";
    }

    private static async LaneTask<string> ForEach(MemberDisk[] members, Func<MemberDisk, LaneTask<IoError>> write)
    {
        LaneTask<IoError>[] writes = Array.ConvertAll(members, member => write(member));
        string problem = "";
        for (int i = 0; i < members.Length; i++)
        {
            IoError error = await writes[i];
            problem = error == IoError.None ? problem : $"Writing to {members[i].Disk.Identity.Uri} failed ({error}).";
        }

        return problem;
    }

    private static async LaneTask TakeBack(PoolEnvironment environment, MemberDisk[] members)
    {
        foreach (MemberDisk member in members)
        {
            member.SetGate(null);
            await PoolScan.Erase(environment.Lane, member.Disk);   // as far as the disk still takes it
        }
    }
}
