using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Journals;

/// <summary>
/// States the newest durable block of a journal by a second durable one when nothing follows it for 100 ms: damage to it is no torn tail then. Its disks were
/// written just before, so that none is woken.
/// </summary>
/// <param name="lane">Lane of the journal.</param>
/// <param name="journal">The journal.</param>
/// <param name="hasRoom">Whether a block may be taken for it.</param>
/// <param name="isBusy">Whether requests are under way: it waits a second for them.</param>
/// <param name="bytes">Bytes that requests have read and written: while they grow it waits a second, too.</param>
/// <param name="isStopping">Whether nothing is stated any more.</param>
internal sealed class EndStating(
    ILane lane, Journal journal, Func<bool> hasRoom, Func<bool> isBusy, Func<long> bytes, Func<bool> isStopping)
{
    private const long AfterNs = 100_000_000;
    private const int WaitsMax = 10;

    private bool _isRunning;

    /// <summary>Whether the block is on its way.</summary>
    internal bool IsWriting { get; private set; }

    /// <summary>A block has become durable.</summary>
    internal void Begin()
    {
        if (!_isRunning && journal.HasUnstatedEnd)
        {
            _isRunning = true;
            State().Forget();
        }
    }

    private async LaneTask State()
    {
        IoError error = IoError.None;
        for (int waits = 0; journal.HasUnstatedEnd && hasRoom() && !isStopping() && error == IoError.None; waits++)
        {
            (ulong durable, long before) = (journal.Durable, bytes());
            await lane.Delay(AfterNs);
            bool isNewest = journal.Durable == durable && hasRoom() && !isStopping();
            if (isNewest && (waits >= WaitsMax || !(isBusy() || bytes() != before)))
            {
                IsWriting = true;
                error = await journal.StateEnd();   // the next append finds an error
                IsWriting = false;
            }
        }

        _isRunning = false;
    }
}
