using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Management;

/// <summary>Remembers, in the state of the host, which pools were opened since the machine started.</summary>
internal sealed class OpenedMarks(SubsystemCore core)
{
    private readonly HashSet<PoolId> _opened = [];   // since the machine started: each has a mark in the host's state

    /// <summary>
    /// Returns whether a pool is open for the first time since the machine started, and marks it as opened. If the mark cannot be read or saved, the result is
    /// false: virtual disks that were attached by hand stay attached.
    /// </summary>
    internal async LaneTask<bool> IsFirstSinceBoot(PoolId pool)
    {
        if (!_opened.Add(pool))
        {
            return false;
        }

        byte[] boot = core.State.BootId.ToByteArray();
        try
        {
            bool isFirst = await core.State.ReadFile(FileOf(pool)) is not { } mark || !mark.AsSpan().SequenceEqual(boot);
            if (isFirst)
            {
                await core.State.WriteFile(FileOf(pool), boot);
            }

            return isFirst;
        }
        catch (IOException problem)
        {
            core.Notice($"Storage pool {core.Pools.NameOf(pool)}: the mark of its first opening since the machine started failed: {problem.Message}");
            return false;
        }
    }

    /// <summary>Forgets the mark of a pool that was removed.</summary>
    internal async LaneTask<Nothing> Forget(PoolId pool)
    {
        _opened.Remove(pool);
        try
        {
            await core.State.DeleteFile(FileOf(pool));
        }
        catch (IOException stays)
        {
            core.Notice($"A file of the removed storage pool stays in the host's state: {stays.Message}");
        }

        return default;
    }

    private static string FileOf(PoolId pool) => $"opened-{pool.Value:N}";
}
