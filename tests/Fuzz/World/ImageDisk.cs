using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Fuzz;

/// <summary>A disk in memory, in blocks: those of a shared image, and its own where it was written to. Completes at once.</summary>
internal sealed class ImageDisk(string name, byte[]?[] image) : IDisk
{
    internal const int BlockSize = 4096;

    private readonly Dictionary<long, byte[]> _own = [];

    public DiskIdentity Identity { get; } = new(
        "fuzz:" + name, name, (long)image.Length * BlockSize, 512, BlockSize, MediaType.SSD, BusType.FileBackedVirtual, 0, true, "", "", "", "", "");

    public bool IsPresent => true;

    public int InFlight => 0;

    public StoreGeometry Geometry => new((long)image.Length * BlockSize, 512, BlockSize, 32 << 20);

    /// <summary>The blocks as they are now.</summary>
    internal byte[]?[] Image() => [.. image.Select((block, number) => _own.GetValueOrDefault(number, block!))];

    /// <summary>A block that may be changed.</summary>
    internal byte[] Own(long number)
    {
        if (!_own.TryGetValue(number, out byte[]? block))
        {
            _own[number] = block = (byte[]?)image[number]?.Clone() ?? new byte[BlockSize];
        }

        return block;
    }

    /// <summary>A block to look at; null when all of it is zero.</summary>
    internal byte[]? Block(long number) => _own.TryGetValue(number, out byte[]? block) ? block : image[number];

    public LaneTask<IoError> Read(long offset, IoBuffer target)
    {
        bool fits = Fits(offset, target.Length);
        for (int at = 0, length; fits && at < target.Length; at += length)
        {
            int within = (int)((offset + at) % BlockSize);
            length = Math.Min(BlockSize - within, target.Length - at);
            Span<byte> piece = target.Slice(at, length).Span;
            if (Block((offset + at) / BlockSize) is { } block)
            {
                block.AsSpan(within, length).CopyTo(piece);
            }
            else
            {
                piece.Clear();
            }
        }

        return Answer(Fits(offset, target.Length));
    }

    public LaneTask<IoError> Write(long offset, IoBuffer source, WriteFlags flags)
    {
        for (int at = 0; Fits(offset, source.Length) && at < source.Length; at += 512)
        {
            source.Slice(at, 512).Span.CopyTo(Own((offset + at) / BlockSize).AsSpan((int)((offset + at) % BlockSize)));
        }

        return Answer(Fits(offset, source.Length));
    }

    public LaneTask<IoError> Flush() => Answer(true);

    public LaneTask<IoError> Unmap(long offset, long length) => WriteZeroes(offset, length, WriteFlags.None);

    public LaneTask<IoError> WriteZeroes(long offset, long length, WriteFlags flags)
    {
        for (long at = offset; Fits(offset, length) && at < offset + length; at += 512)
        {
            if (Block(at / BlockSize) is not null)
            {
                Own(at / BlockSize).AsSpan((int)(at % BlockSize), 512).Clear();
            }
        }

        return Answer(Fits(offset, length));
    }

    public LaneTask<IoError> Status(long offset, long length, List<StoreExtent> extents)
    {
        extents.Add(new StoreExtent(length, ExtentState.Data));
        return Answer(Fits(offset, length));
    }

    public LaneTask Close() => default;

    private static LaneTask<IoError> Answer(bool fits) => LaneTask.FromResult(fits ? IoError.None : IoError.InvalidArgument);

    private bool Fits(long offset, long length) =>
        offset >= 0 && length >= 0 && offset <= Geometry.Length - length && (offset | length) % 512 == 0;
}
