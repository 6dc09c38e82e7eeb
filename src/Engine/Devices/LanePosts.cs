using TierSpaces.Engine.Lanes;

namespace TierSpaces.Engine.Devices;

/// <summary>Messages from a handle of a disk to another lane.</summary>
internal static class LanePosts
{
    /// <summary>Runs <paramref name="work"/> on a lane soon. Nothing is done if the lane has stopped: then nothing on it waits for the message.</summary>
    internal static void TryPost(ILane lane, Action work)
    {
        try
        {
            lane.Post(work);
        }
        catch (ObjectDisposedException)
        {
            // The lane has stopped, and with it all that it would have done.
        }
    }
}
