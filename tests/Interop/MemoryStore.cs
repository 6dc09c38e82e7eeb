using System.Runtime.InteropServices;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Interop.Tests;

/// <summary>The least a store can be: memory. Completes every call at once; knows which 4 KiB pages were ever written.</summary>
internal sealed unsafe class MemoryStore : IBlockStore, IDisposable
{
    private const int Page = 4096;

    private readonly byte* _memory;
    private readonly bool[] _written;
    private readonly int _blockSize;

    /// <summary>A store of zeros.</summary>
    /// <param name="length">Length in bytes, a multiple of 4096.</param>
    /// <param name="blockSize">512 or 4096.</param>
    internal MemoryStore(long length, int blockSize)
    {
        Length = length;
        _blockSize = blockSize;
        _memory = (byte*)NativeMemory.AllocZeroed((nuint)length);
        _written = new bool[length / Page];
    }

    internal long Length { get; }

    public StoreGeometry Geometry => new(Length, _blockSize, Page, 32 << 20);

    public LaneTask<IoError> Read(long offset, IoBuffer target)
    {
        new Span<byte>(_memory + offset, target.Length).CopyTo(target.Span);
        return default;
    }

    public LaneTask<IoError> Write(long offset, IoBuffer source, WriteFlags flags)
    {
        source.Span.CopyTo(new Span<byte>(_memory + offset, source.Length));
        Mark(offset, source.Length, isWritten: true);
        return default;
    }

    public LaneTask<IoError> Flush() => default;

    public LaneTask<IoError> Unmap(long offset, long length)
    {
        NativeMemory.Clear(_memory + offset, (nuint)length);
        Mark(offset, length, isWritten: false);
        return default;
    }

    public LaneTask<IoError> WriteZeroes(long offset, long length, WriteFlags flags)
    {
        NativeMemory.Clear(_memory + offset, (nuint)length);
        Mark(offset, length, isWritten: (flags & WriteFlags.NoHole) != 0);
        return default;
    }

    public LaneTask<IoError> Status(long offset, long length, List<StoreExtent> extents)
    {
        int first = extents.Count;
        for (long at = offset, next; at < offset + length; at = next)
        {
            next = Math.Min((at / Page * Page) + Page, offset + length);
            ExtentState state = _written[at / Page] ? ExtentState.Data : ExtentState.Hole | ExtentState.Zero;
            if (extents.Count > first && extents[^1].State == state)
            {
                extents[^1] = new StoreExtent(extents[^1].Length + next - at, state);
            }
            else
            {
                extents.Add(new StoreExtent(next - at, state));
            }
        }

        return default;
    }

    public void Dispose() => NativeMemory.Free(_memory);

    /// <summary>A page only partly zeroed stays written.</summary>
    private void Mark(long offset, long length, bool isWritten)
    {
        long first = isWritten ? offset / Page : (offset + Page - 1) / Page;
        long end = isWritten ? (offset + length + Page - 1) / Page : (offset + length) / Page;
        if (end > first)
        {
            _written.AsSpan((int)first, (int)(end - first)).Fill(isWritten);
        }
    }
}
