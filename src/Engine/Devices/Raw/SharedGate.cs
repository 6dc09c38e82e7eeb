using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Devices.Raw;

/// <summary>Many at once, or one alone, in the order of arrival. Used on one lane.</summary>
internal sealed class SharedGate
{
    private readonly record struct Waiter(LaneCompletion<Nothing> Completion, bool Alone);

    private readonly Queue<Waiter> _waiters = new();
    private int _inside;
    private bool _alone;

    internal LaneTask EnterShared() => Enter(alone: false);

    internal LaneTask EnterExclusive() => Enter(alone: true);

    internal void ExitShared()
    {
        _inside--;
        Admit();
    }

    internal void ExitExclusive()
    {
        _alone = false;
        ExitShared();
    }

    private LaneTask Enter(bool alone)
    {
        if (_waiters.Count == 0 && MayEnter(alone))
        {
            _inside++;
            _alone = alone;
            return LaneTask.Completed;
        }

        LaneCompletion<Nothing> completion = LaneCompletion<Nothing>.Rent();
        _waiters.Enqueue(new Waiter(completion, alone));
        return new LaneTask(completion.Task);
    }

    private bool MayEnter(bool alone) => alone ? _inside == 0 : !_alone;

    private void Admit()
    {
        while (_waiters.TryPeek(out Waiter first) && MayEnter(first.Alone))
        {
            _waiters.Dequeue();
            _inside++;
            _alone = first.Alone;
            first.Completion.Complete(default);
        }
    }
}
