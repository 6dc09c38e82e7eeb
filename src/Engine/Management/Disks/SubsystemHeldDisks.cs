using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Management;

// Disks that a killed host holds still. The kernel lets go of a file when the last request on it has ended and it has come to it, in the order in
// which files were left: behind a large one that somebody has deleted that takes a minute. Until then the host looks at them again and again,
// and a pool waits for its disks: opened without them it would have to leave them out, or detach its virtual disks.

public sealed partial class StorageSubsystem
{
    private const long HeldLookNs = 100_000_000;
    private const long HeldPatienceNs = 300_000_000_000;

    private bool HasHeldDisks => _registry.Disks.Exists(static disk => disk.IsStillHeld);

    private async LaneTask AwaitHeldDisks()
    {
        long endNs = _lane.NowNs + HeldPatienceNs;
        if (!HasHeldDisks)
        {
            return;
        }

        _options.Notice("Disks are still held by a host that has ended; their pools are opened when the kernel has let go of them.");
        while (HasHeldDisks && !_stopped && _lane.NowNs < endNs)
        {
            await _lane.Delay(HeldLookNs);
            await InTurn(LookAtHeldDisks);
        }

        await InTurn(OpenPartly);
    }

    private async LaneTask<Nothing> LookAtHeldDisks()
    {
        foreach (RegisteredDisk disk in _registry.Disks.FindAll(disk => disk.IsStillHeld && !_stopped))
        {
            await OpenRegistered(disk);
            if (disk.Disk is not null)
            {
                await OfferOrOpen(disk);
            }
        }

        return default;
    }

    /// <summary>No disk is held any more, or none is waited for: what is there has to do.</summary>
    private async LaneTask<Nothing> OpenPartly() => _stopped ? default : await OpenPools();
}
