using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Management;

// Image files are made and deleted on threads of the lane, so that a file system that hangs holds up the verb alone, and that for a limited time.
//
// Invariants
//  1. An image that was made after its verb has failed is deleted.

/// <summary>Makes and deletes image files for verbs.</summary>
internal sealed class ImageFiles(SubsystemCore core)
{
    /// <summary>Makes an image file.</summary>
    /// <exception cref="ManagementException">It could not be made, or not within the longest deadline of a request; nothing is left behind.</exception>
    internal async LaneTask<Nothing> Create(string path, long size, bool preallocate)
    {
        TimedCall<bool> making = new(core.Lane, _ => core.Lane.OffloadBlocking(() => DiskImage.Delete(path)), static _ => { });
        long limitNs = core.Options.Deadlines.StallNs;
        bool hasEnded = await making.EndsWithin(limitNs, core.Lane.CallBlocking(() =>
        {
            DiskImage.Create(path, size, preallocate);
            return true;
        }));
        if (!hasEnded)
        {
            throw NoAnswer(path, limitNs);
        }

        try
        {
            _ = making.Result;
        }
        catch (Exception failure) when (failure is IOException or ArgumentException)
        {
            throw Failure(path, failure);
        }

        return default;
    }

    /// <summary>Throws what <see cref="Create"/> would throw before it begins.</summary>
    internal async LaneTask<Nothing> CheckCreate(string path, long size)
    {
        TimedCall<IOException?> looking = new(core.Lane, static _ => LaneTask.Completed, static _ => { });
        bool hasEnded = await looking.EndsWithin(DeviceOpenings.PatienceNs, core.Lane.CallBlocking(() => DiskImage.WhyNotCreated(path, size)));
        return !hasEnded ? throw NoAnswer(path, DeviceOpenings.PatienceNs) : looking.Result is { } why ? throw Failure(path, why) : default(Nothing);
    }

    /// <summary>Deletes an image file. A file system that hangs is not waited for: the file is deleted when it answers again.</summary>
    internal async LaneTask<Nothing> Delete(string path)
    {
        TimedCall<bool> deleting = new(core.Lane, static _ => LaneTask.Completed, static _ => { });
        await deleting.EndsWithin(DeviceOpenings.PatienceNs, core.Lane.CallBlocking(() =>
        {
            DiskImage.Delete(path);
            return true;
        }));
        return default;
    }

    private static ManagementException Failure(string path, Exception failure) => new(FileErrors.Of(failure), $"-Path '{path}': {failure.Message}");

    private static ManagementException NoAnswer(string path, long limitNs) => new(
        ManagementError.Timeout,
        $"-Path '{path}': its file system has not answered within {limitNs / 1_000_000_000} s. The image file is not made, or is deleted when it answers.",
        "Make the file system answer again, or choose another place.");
}
