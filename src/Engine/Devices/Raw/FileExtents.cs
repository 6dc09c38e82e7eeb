using TierSpaces.Engine.Lanes.Native;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Devices.Raw;

/// <summary>
/// Data and holes of a sparse file (SEEK_DATA, SEEK_HOLE). Space that is preallocated and never written counts as a hole:
/// the file system does not tell the two apart.
/// </summary>
internal static class FileExtents
{
    private const ExtentState HoleState = ExtentState.Hole | ExtentState.Zero;

    /// <summary>
    /// Appends the state at <paramref name="offset"/> and moves it to the end of that state, at most to
    /// <paramref name="end"/>. A block that holds any data is data.
    /// </summary>
    internal static IoError Next(int descriptor, ref long offset, long end, int blockSize, List<StoreExtent> extents)
    {
        long data = Libc.Seek(descriptor, offset, Libc.SeekData);
        if (data < 0 && Libc.LastError() is var errno and not Errno.ENXIO)
        {
            return IoErrors.FromErrno(errno);
        }

        long dataStart = data < 0 ? end : Math.Min(end, data & -blockSize);   // ENXIO: a hole up to the end of the file
        if (dataStart > offset)
        {
            Append(extents, dataStart - offset, HoleState);
            offset = dataStart;
            return IoError.None;
        }

        long hole = Libc.Seek(descriptor, data, Libc.SeekHole);
        if (hole < 0)
        {
            return IoErrors.FromErrno(Libc.LastError());
        }

        long dataEnd = Math.Min(end, (hole + blockSize - 1) & -blockSize);
        Append(extents, dataEnd - offset, ExtentState.Data);
        offset = dataEnd;
        return IoError.None;
    }

    /// <summary>Appends a stretch, joined with the last one when the states are equal.</summary>
    internal static void Append(List<StoreExtent> extents, long length, ExtentState state)
    {
        if (extents.Count > 0 && extents[^1].State == state)
        {
            extents[^1] = new StoreExtent(extents[^1].Length + length, state);
        }
        else
        {
            extents.Add(new StoreExtent(length, state));
        }
    }
}
