using TierSpaces.Engine.Lanes;

namespace TierSpaces.Engine.Devices.Emulated;

/// <summary>
/// The requests of one handle in the medium that it shares with others. <see cref="UnderWay"/> and <see cref="Waiting"/> are used under the lock of the medium.
/// </summary>
/// <param name="lane">Lane of the handle.</param>
/// <param name="wake">Looks again, on that lane, when the first of its requests ends.</param>
/// <param name="faultChanged">The disk shows another fault: called on that lane.</param>
internal sealed class MediumPort(ILane lane, Action wake, Action faultChanged)
{
    private int _mustWake;   // 1: another lane has begun a request of this handle

    /// <summary>Its requests that have begun.</summary>
    internal EndQueue UnderWay { get; } = new();

    /// <summary>Its requests that have not begun.</summary>
    internal int Waiting { get; private set; }

    /// <summary>A request of it waits.</summary>
    internal void NoteArrival() => Waiting++;

    /// <summary>A request of it has begun, and ends at a time.</summary>
    internal void Begin(EmulatedRequest request, long endNs)
    {
        Waiting--;
        UnderWay.Add(request, endNs);
    }

    internal ILane Lane => lane;

    internal Action FaultChanged => faultChanged;

    /// <summary>Another lane has begun a request of this handle.</summary>
    internal void MustWake() => Volatile.Write(ref _mustWake, 1);

    /// <summary>Posts to the lane what <see cref="MustWake"/> has noted; called by any lane, outside the lock.</summary>
    internal void WakeIfMust()
    {
        if (Volatile.Read(ref _mustWake) != 0 && Interlocked.Exchange(ref _mustWake, 0) != 0)
        {
            LanePosts.TryPost(lane, wake);
        }
    }
}
