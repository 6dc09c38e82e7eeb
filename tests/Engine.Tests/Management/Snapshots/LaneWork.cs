using TierSpaces.Engine.Pools;

namespace TierSpaces.Engine.Tests.Management;

/// <summary>Measures what verbs do on a simulated lane: everything but what runs outside.</summary>
internal sealed class LaneWork
{
    private long _rowsBefore;
    private long _bytesBefore;

    /// <summary>Rows and slices gone over on the lane.</summary>
    internal long Rows { get; private set; }

    /// <summary>Bytes allocated on the lane: as many as were copied.</summary>
    internal long Bytes { get; private set; }

    /// <summary>Rows and slices gone over outside.</summary>
    internal long RowsOutside { get; private set; }

    /// <summary>Measures a verb and gives its reply.</summary>
    internal static LaneWork Of<T>(SubsystemWorld world, Func<Task<T>> verb, out T reply)
    {
        LaneWork work = new();
        world.Lane.OutsideChanged = work.OnOutside;
        work.Mark();
        reply = world.Run(verb());
        work.OnOutside(true);
        world.Lane.OutsideChanged = null;
        return work;
    }

    private void OnOutside(bool begins)
    {
        if (begins)
        {
            Rows += RowWalks.OnThisThread - _rowsBefore;
            Bytes += GC.GetAllocatedBytesForCurrentThread() - _bytesBefore;
        }
        else
        {
            RowsOutside += RowWalks.OnThisThread - _rowsBefore;
        }

        Mark();
    }

    private void Mark() => (_rowsBefore, _bytesBefore) = (RowWalks.OnThisThread, GC.GetAllocatedBytesForCurrentThread());
}
