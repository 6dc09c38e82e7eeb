using TierSpaces.Engine.Lanes.Native;

namespace TierSpaces.PowerCuts;

/// <summary>
/// Numbers of the acknowledged flushes of a load, one for each of its writers, in a file that no power cut reaches: a number is in it before the
/// writer goes on.
/// </summary>
internal sealed unsafe class FlushReport : IDisposable
{
    private const int Slot = 4096;
    private const int Slots = 8;

    private readonly int _descriptor;

    internal FlushReport(string path)
    {
        File.WriteAllBytes(path, new byte[Slot * Slots]);
        _descriptor = Libc.OpenPath(path, Libc.OpenReadWrite);
    }

    internal static long Read(string path, int writer)
    {
        using FileStream file = new(path, FileMode.Open, FileAccess.Read, FileShare.ReadWrite);
        file.Position = writer * Slot;
        Span<byte> number = stackalloc byte[sizeof(long)];
        file.ReadExactly(number);
        return BitConverter.ToInt64(number);
    }

    internal void Write(int writer, long number)
    {
        if (Libc.WriteAt(_descriptor, &number, sizeof(long), writer * Slot) != sizeof(long) || Libc.SyncData(_descriptor) != 0)
        {
            throw new IOException("An acknowledged flush cannot be reported.");
        }
    }

    public void Dispose() => _ = Libc.Close(_descriptor);
}
