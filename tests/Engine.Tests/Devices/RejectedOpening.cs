using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tests.Devices;

/// <summary>Opens disks that must be rejected.</summary>
internal static class RejectedOpening
{
    /// <summary>The reason why a disk cannot be opened; a disk that can be opened fails the test.</summary>
    internal static async LaneTask<DiskOpenException> WhyNot(
        this IDiskFactory factory, ILane lane, string uri, DiskOverrides overrides, DiskUse use = DiskUse.ReadWrite)
    {
        IDisk opened;
        try
        {
            opened = await factory.Open(lane, uri, overrides, use);
        }
        catch (DiskOpenException rejected)
        {
            return rejected;
        }

        await opened.Close();
        throw new InvalidOperationException($"{uri} was opened.");
    }
}
