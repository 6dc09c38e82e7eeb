using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Verification;

namespace TierSpaces.PowerCuts;

/// <summary>
/// A disk with a volatile write cache, the medium of the simulator behind a real device: a write completes when it is in the cache, a flush hardens all of
/// it, and a power cut keeps the sectors of the cache that a rule names. Its requests take effect while the <see cref="PowerSupply"/> is on; later
/// ones wait until the machine that sent them has ended, and fail.
/// </summary>
internal sealed class VolatileDisk : IBlockStore
{
    private const int Sector = 512;
    private const int TransferMax = 1 << 20;

    private static readonly byte[] s_zeros = new byte[TransferMax];

    private readonly PowerSupply _power;
    private SimMedia _media;

    internal VolatileDisk(PowerSupply power, string name, long length)
    {
        (_power, Name) = (power, name);
        _media = new SimMedia(name, length, Sector);
    }

    internal string Name { get; }

    /// <summary>Writes that no flush has covered.</summary>
    internal int Pending => _media.CachedWrites;

    /// <inheritdoc/>
    public StoreGeometry Geometry => new(_media.Length, Sector, Sector, TransferMax);

    /// <summary>Loses the power: of the cache only those sectors (write, sector of it) stay that the rule names.</summary>
    internal void Cut(Func<int, int, bool> keep) => _media = _media.Cut(keep);

    /// <summary>The content as it is now. It does not change with the disk.</summary>
    internal SimMedia Snapshot() => _media.Snapshot();

    /// <inheritdoc/>
    public async LaneTask<IoError> Read(long offset, IoBuffer target)
    {
        if (!_power.IsOn)
        {
            return await _power.Lost();
        }

        _media.Read(offset, target.Span);
        return IoError.None;
    }

    /// <inheritdoc/>
    public async LaneTask<IoError> Write(long offset, IoBuffer source, WriteFlags flags)
    {
        if (!_power.IsOn)
        {
            return await _power.Lost();
        }

        // The request at which the power fails is in the cache, and is not acknowledged.
        _media.Write(offset, source.Span);
        _media.WriteBack();
        return _power.TakeChange() ? IoError.None : await _power.Lost();
    }

    /// <inheritdoc/>
    public async LaneTask<IoError> Flush()
    {
        if (!_power.IsOn || !_power.TakeChange())
        {
            return await _power.Lost();
        }

        if (!_power.FlushesLie)
        {
            _media.Harden(_media.CachedWrites);
        }

        return IoError.None;
    }

    /// <inheritdoc/>
    public LaneTask<IoError> Unmap(long offset, long length) => WriteZeroes(offset, length, WriteFlags.None);

    /// <inheritdoc/>
    public async LaneTask<IoError> WriteZeroes(long offset, long length, WriteFlags flags)
    {
        for (long done = 0; done < length; done += TransferMax)
        {
            if (!_power.IsOn)
            {
                return await _power.Lost();
            }

            _media.Write(offset + done, s_zeros.AsSpan(0, (int)Math.Min(TransferMax, length - done)));
        }

        return _power.TakeChange() ? IoError.None : await _power.Lost();
    }

    /// <inheritdoc/>
    public LaneTask<IoError> Status(long offset, long length, List<StoreExtent> extents)
    {
        extents.Add(new StoreExtent(length, ExtentState.Data));
        return LaneTask.FromResult(IoError.None);
    }
}
