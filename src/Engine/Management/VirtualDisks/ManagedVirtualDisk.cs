using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Jobs;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

// The control lane's side of an open virtual disk. The virtual disk and everything below it belong to its own lane: control code sends actions there, or reads
// the status, which needs no answer.
//
// Invariants
//  1. An open virtual disk is used only by actions on its lane. They use nothing of the control lane, and what they return shares no mutable state with the
//     virtual disk.
//  2. Actions begin in the order in which they are sent. A change of the description reaches the virtual disk in the same order.
//  3. Until an action has returned other things happen on the control lane: code that runs beside the verbs checks then that its pool still has this object
//     (ManagedPool.Has), and that what it relied on still holds.

/// <summary>An open virtual disk, its export, and what the control lane notes about it.</summary>
internal sealed class ManagedVirtualDisk : IDiskLane
{
    private const long PublishPeriodNs = 100_000_000;

    private readonly OpenVirtualDisk _open;
    private readonly ILane _control;
    private VirtualDiskDescription _description;
    private OpenDiskStatus _status;   // published by its lane
    private long _joinsSeen = long.MaxValue;   // disks that had joined its pools when it was last looked whether it has failed since

    private ManagedVirtualDisk(OpenVirtualDisk open, ILane control, OpenDiskStatus status, OpenDiskSnapshot snapshot)
    {
        LastSnapshot = snapshot;
        _open = open;
        _control = control;
        _description = open.Description;
        _status = status;
        Traffic = open.Disk.Counters;
    }

    /// <summary>Lane of the virtual disk.</summary>
    public ILane Lane => _open.Lane;

    /// <summary>The description as the control lane knows it.</summary>
    internal VirtualDiskDescription Description => _description;

    /// <summary>State of the virtual disk, for code that cannot wait for its lane: what its lane has published last, at most a tenth of a second ago.</summary>
    internal OpenDiskStatus Status => Lane == _control ? OpenDiskStatus.Of(_open) : Volatile.Read(ref _status);

    /// <summary>
    /// The open virtual disk, only to be handed to functions that run on the control lane and send their own actions to its lane, and to job steps.
    /// </summary>
    internal OpenVirtualDisk Opened => _open;

    /// <summary>Counters of the requests of its clients. Its lane writes them; other lanes see each number whole.</summary>
    internal IoCounters Traffic { get; }

    /// <summary>The snapshot of it that its lane returned last.</summary>
    internal OpenDiskSnapshot LastSnapshot { get; private set; }

    /// <summary>Its export while it has one.</summary>
    internal DiskExport? Export { get; private set; }

    internal string SocketPath { get; private set; } = "";

    internal bool IsExported => Export is not null;

    /// <summary>Whether it is to be opened again as soon as no commit that concerns it is undecided.</summary>
    internal bool AwaitsDecision { get; private set; }

    /// <summary>Reason why the virtual disk is not exported although it should be; empty otherwise.</summary>
    internal string ExportProblem { get; private set; } = "";

    /// <summary>Its repairs so far, and when the next one may begin.</summary>
    internal RepairHistory Repairs { get; } = new();

    /// <summary>Takes over a virtual disk that was just opened.</summary>
    /// <param name="open">The virtual disk.</param>
    /// <param name="control">The control lane.</param>
    internal static async LaneTask<ManagedVirtualDisk> Take(OpenVirtualDisk open, ILane control)
    {
        (OpenDiskStatus status, OpenDiskSnapshot snapshot) = await open.Call(() => LaneTask.FromResult((OpenDiskStatus.Of(open), OpenDiskSnapshot.Of(open))));
        ManagedVirtualDisk taken = new(open, control, status, snapshot);
        if (taken.Lane != control)
        {
            await taken.Ask(_ => taken.StartPublishing());
        }

        return taken;
    }

    /// <summary>Runs an action on the lane of the virtual disk and returns its result on the control lane.</summary>
    internal LaneTask<T> Call<T>(Func<OpenVirtualDisk, LaneTask<T>> action) => _open.Call(async () =>
    {
        T result = await action(_open);
        Publish();
        return result;
    });

    /// <summary>Looks at the virtual disk on its lane and returns the result on the control lane.</summary>
    internal LaneTask<T> Ask<T>(Func<OpenVirtualDisk, T> look) => Call(open => LaneTask.FromResult(look(open)));

    /// <summary>The pool remembers the disk in another way from now on. The virtual disk knows it before any action that is sent later begins.</summary>
    internal void Redescribe(VirtualDiskDescription description)
    {
        _description = description;
        Call(open =>
        {
            open.Redescribe(description);
            return LaneTask.FromResult(description);
        }).Forget();
    }

    /// <summary>It is opened again as soon as no commit that concerns it is undecided.</summary>
    internal void AwaitDecision() => AwaitsDecision = true;

    /// <summary>Looks whether it is to be opened again because disks have joined its pools since the last look.</summary>
    /// <param name="joins">Disks that have joined its pools so far.</param>
    internal bool HasFailedLate(long joins)
    {
        bool isLate = Status.IsToBeReopened && _joinsSeen < joins && !AwaitsDecision;
        _joinsSeen = joins;
        return isLate;
    }

    /// <summary>Takes the description over that a function below has changed.</summary>
    internal async LaneTask<VirtualDiskDescription> TakeDescription() => _description = await Ask(static open => open.Description);

    /// <summary>Takes snapshots of virtual disks of one lane, in one action. They are kept also when the answer comes too late for the caller.</summary>
    internal static async LaneTask<Nothing> TakeSnapshots(ManagedVirtualDisk[] disks)
    {
        OpenDiskSnapshot[] taken = await disks[0].Ask(_ => Array.ConvertAll(disks, static disk => OpenDiskSnapshot.Of(disk._open)));
        for (int i = 0; i < disks.Length; i++)
        {
            disks[i].LastSnapshot = taken[i];
        }

        return default;
    }

    /// <inheritdoc/>
    public LaneTask<T> Run<T>(Func<LaneTask<T>> action) => _open.Call(action);

    /// <summary>Notes that it is exported.</summary>
    internal void SetExported(DiskExport export, string socketPath) => (Export, SocketPath, ExportProblem) = (export, socketPath, "");

    /// <summary>Notes the reason why the virtual disk is not exported although it should be.</summary>
    internal void SetExportProblem(string problem) => ExportProblem = problem;

    /// <summary>Notes that it is exported no more, and returns the export, which is still open.</summary>
    internal DiskExport? TakeExport()
    {
        DiskExport? export = Export;
        (Export, SocketPath) = (null, "");
        return export;
    }

    private bool StartPublishing()
    {
        KeepPublished().Forget();
        return true;
    }

    private async LaneTask KeepPublished()
    {
        while (!_open.IsClosed)
        {
            Publish();
            await Lane.Delay(PublishPeriodNs);
        }

        Publish();
    }

    private void Publish() => Volatile.Write(ref _status, OpenDiskStatus.Of(_open));
}
