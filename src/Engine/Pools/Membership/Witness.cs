using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

/// <summary>The witness files of one pool in the host's state folder.</summary>
internal sealed class Witness(IHostState host, PoolId pool)
{
    /// <summary>The witness with this id, or null when its file is missing, unreadable, damaged or another's.</summary>
    internal WitnessRecord? Read(Guid id)
    {
        try
        {
            return host.ReadFile(WitnessRecord.FileName(pool, id)) is { } bytes ? WitnessRecord.Decode(bytes, pool, id) : null;
        }
        catch (IOException)
        {
            return null;
        }
    }

    /// <summary>The witness with this id if it can be of a history of the pool.</summary>
    internal WitnessRecord? Read(Guid id, MemberHistory history) => Read(id) is { } record && Lineages.Fit(record.History, history) ? record : null;

    /// <summary>Makes a record durable; false when the host cannot.</summary>
    internal bool TryWrite(WitnessRecord record)
    {
        try
        {
            host.WriteFile(WitnessRecord.FileName(pool, record.Witness), record.Encode());
            return true;
        }
        catch (IOException)
        {
            return false;
        }
    }

    /// <summary>Removes the file of a witness that no view names any more.</summary>
    internal void Delete(Guid id)
    {
        try
        {
            host.DeleteFile(WitnessRecord.FileName(pool, id));
        }
        catch (IOException)
        {
            // It does not vote any more; that it stays does no harm.
        }
    }
}
