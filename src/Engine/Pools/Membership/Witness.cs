using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

/// <summary>The witness files of one pool in the host's state folder. A folder that does not answer in time counts as one that fails.</summary>
internal sealed class Witness(StateFolder host, PoolId pool)
{
    /// <summary>The witness with this id, or null when its file is missing, unreadable, damaged or another's.</summary>
    internal async LaneTask<WitnessRecord?> Read(Guid id)
    {
        try
        {
            return await host.ReadFile(WitnessRecord.FileName(pool, id)) is { } bytes ? WitnessRecord.Decode(bytes, pool, id) : null;
        }
        catch (IOException)
        {
            return null;
        }
    }

    /// <summary>Makes a record durable; false when the host cannot. It may become durable later all the same.</summary>
    internal async LaneTask<bool> TryWrite(WitnessRecord record)
    {
        try
        {
            await host.WriteFile(WitnessRecord.FileName(pool, record.Witness), record.Encode());
            return true;
        }
        catch (IOException)
        {
            return false;
        }
    }
}
