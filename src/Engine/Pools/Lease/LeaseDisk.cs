using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

// Requests of the lease go past deadlines, counters and the gate of the member disk: a request for data may wait for them, never the other way round.
//
// Invariant
//  1. At most one request of the lease is under way at a disk.

/// <summary>The lease area of one member disk.</summary>
internal sealed class LeaseDisk(ILane lane, MemberDisk member)
{
    private readonly IDisk _device = member.Disk is MeteredDisk metered ? metered.Below : member.Disk;

    /// <summary>The disk.</summary>
    internal MemberDisk Member => member;

    internal DiskNumber Number => member.Number;

    /// <summary>Whether a request of the lease is under way.</summary>
    internal bool IsBusy { get; private set; }

    /// <summary>The area as it was last read; null: it could not be read.</summary>
    internal LeaseArea? Area { get; private set; }

    /// <summary>Reads the area.</summary>
    internal async LaneTask<IoError> Read()
    {
        IsBusy = true;
        IoError error = await ReadArea();
        IsBusy = false;
        return error;
    }

    /// <summary>Writes a lease block, makes it durable if wanted, and reads the area.</summary>
    internal LaneTask<IoError> Write(LeaseBlock block, bool isDurable)
    {
        byte[] bytes = new byte[PoolBlock.Size];
        int number = LeaseArea.BlockOf(block.Session.Session);
        block.Encode(bytes, Place(number));
        return Write(number, bytes, isDurable);
    }

    /// <summary>Writes a claim, makes it durable, and reads the area.</summary>
    internal LaneTask<IoError> Write(LeaseClaim claim)
    {
        byte[] bytes = new byte[PoolBlock.Size];
        int number = Area!.PlaceFor(claim.Node);
        claim.Encode(bytes, Place(number));
        return Write(number, bytes, isDurable: true);
    }

    /// <summary>Writes a whole area that holds one lease block alone, and makes it durable.</summary>
    internal async LaneTask<IoError> Clear(LeaseBlock block)
    {
        IsBusy = true;
        byte[] bytes = new byte[LeaseArea.Bytes];
        int number = LeaseArea.BlockOf(block.Session.Session);
        LeaseBlock first = block with { ClaimsHash = LeaseArea.NoClaims };
        first.Encode(bytes.AsSpan(number * PoolBlock.Size, PoolBlock.Size), Place(number));
        IoError error = await MetadataIo.Write(lane, _device, member.Layout.Lease, bytes);
        error = error == IoError.None ? await _device.Flush() : error;
        error = error == IoError.None ? await ReadArea() : error;
        IsBusy = false;
        return error;
    }

    /// <summary>Blanks the damaged blocks of the area, and reads it.</summary>
    /// <param name="own">Number of the block that this host writes: it stays.</param>
    internal async LaneTask<IoError> Blank(int own)
    {
        IoError error = IoError.None;
        foreach (int number in Area!.Torn.Where(number => number != own))
        {
            error = error == IoError.None ? await Write(number, new byte[PoolBlock.Size], isDurable: false) : error;
        }

        return error;
    }

    private PoolBlock Place(int number) => member.Place(member.Layout.Lease + ((long)number * PoolBlock.Size));

    private async LaneTask<IoError> Write(int number, byte[] bytes, bool isDurable)
    {
        IsBusy = true;
        IoError error = await MetadataIo.Write(lane, _device, member.Layout.Lease + ((long)number * PoolBlock.Size), bytes);
        error = error == IoError.None && isDurable ? await _device.Flush() : error;
        error = error == IoError.None ? await ReadArea() : error;
        IsBusy = false;
        return error;
    }

    private async LaneTask<IoError> ReadArea()
    {
        byte[] bytes = new byte[LeaseArea.Bytes];
        IoError error = await MetadataIo.Read(lane, _device, member.Layout.Lease, bytes);
        Area = error == IoError.None ? LeaseArea.Decode(bytes, member.Label.Pool, member.Label.Disk, member.Layout.Lease) : null;
        return error;
    }
}
