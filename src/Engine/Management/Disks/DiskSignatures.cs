using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Management;

// Two tables of signatures decide whether a disk is blank. The engine's own knows what is certain at fixed places and is always there. A program of the
// machine knows more, and verifies checksums. A signature that either of them finds keeps a disk out of pools, and is erased by a reset.
//
// The program lists and never writes: the host holds the lock of the disk, and its writes go through the queue and the deadlines of the disk.
//
// Invariants
//  1. A disk is blank only if both tables say so, or the program is not installed.
//  2. A signature may hide another one. A reset lists and erases until nothing is found.

/// <summary>Signatures of other software that were found on a disk.</summary>
/// <param name="Signatures">The signatures, in the order of their places.</param>
/// <param name="MissingTool">Name of the program that could not be asked; empty if it answered.</param>
public sealed record FoundSignatures(IReadOnlyList<DiskSignature> Signatures, string MissingTool);

/// <summary>Finds and erases signatures of other software on open disks that no pool owns.</summary>
internal sealed class DiskSignatures(SubsystemCore core)
{
    private const int RoundsMax = 16;

    /// <summary>Reads what a disk holds. A disk that is blank to the engine is shown to the program too.</summary>
    internal async LaneTask<PoolScan> Scan(IDisk disk)
    {
        PoolScan scan = await PoolScan.Scan(core.Lane, disk);
        return scan.Kind == ScanKind.Blank && await Ask(disk) is { Count: > 0 } found ? PoolScan.ForeignDisk(disk, found) : scan;
    }

    /// <summary>Lists the signatures on a disk.</summary>
    /// <exception cref="ManagementException">The disk cannot be read.</exception>
    internal async LaneTask<FoundSignatures> Find(IDisk disk)
    {
        (IoError error, IReadOnlyList<DiskSignature> own) = await PoolScan.FindSignatures(core.Lane, disk);
        if (error != IoError.None)
        {
            throw new ManagementException(ManagementError.Failed, $"{disk.Identity.Uri} cannot be read ({error}).", "Replace the disk.");
        }

        IReadOnlyList<DiskSignature>? asked = await Ask(disk);
        string missing = asked is null ? core.Options.Signatures?.Name ?? "" : "";
        DiskSignature[] all = [.. (asked ?? []).Concat(own).DistinctBy(static signature => signature.Offset)];
        return new FoundSignatures([.. all.OrderBy(static signature => signature.Offset)], missing);
    }

    /// <summary>Erases every signature on a disk. Returns those that it erased.</summary>
    /// <exception cref="ManagementException">The disk cannot be read or written, or a signature comes back.</exception>
    internal async LaneTask<FoundSignatures> Erase(IDisk disk)
    {
        List<DiskSignature> erased = [];
        for (int round = 0; round < RoundsMax; round++)
        {
            FoundSignatures found = await Find(disk);
            if (found.Signatures.Count == 0)
            {
                return found with { Signatures = erased };
            }

            erased.AddRange(found.Signatures);
            if (await PoolScan.EraseSignatures(core.Lane, disk, found.Signatures) is not IoError.None and var error)
            {
                throw new ManagementException(ManagementError.Failed, $"{disk.Identity.Uri} cannot be written ({error}).", "Replace the disk.");
            }
        }

        throw new ManagementException(
            ManagementError.Failed, $"{disk.Identity.Uri} still holds {erased[^1].Name} at offset {ByteText.Offset(erased[^1].Offset)}, although it was erased {RoundsMax} times.",
            "End the program that writes it again.");
    }

    /// <summary>Asks the program; null if there is none, or it does not answer in time.</summary>
    private async LaneTask<IReadOnlyList<DiskSignature>?> Ask(IDisk disk)
    {
        if (core.Options.Signatures is not { } tool)
        {
            return null;
        }

        string path = DiskUri.Parse(disk.Identity.Uri).Path;
        TimedCall<IReadOnlyList<DiskSignature>?> asking = new(core.Lane, static _ => LaneTask.Completed, static _ => { });
        return await asking.EndsWithin(DeviceOpenings.PatienceNs, core.Lane.CallBlocking(() => tool.List(path))) ? asking.Result : null;
    }
}
