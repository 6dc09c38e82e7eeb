using System.Buffers.Binary;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Exports.Nbd;

/// <summary>
/// Requests as calls on the store. The common ones are passed through without a frame of their own; the others are
/// built from several calls, one after the other.
/// </summary>
internal static class NbdStoreCalls
{
    /// <summary>Descriptors in one status reply; a client asks again for the rest.</summary>
    internal const int MaxExtents = 1020;

    /// <summary>Size of a status reply's payload at most, in bytes.</summary>
    internal const int StatusBytes = 4 + (8 * MaxExtents);

    /// <summary>Id of base:allocation on every connection.</summary>
    internal const uint AllocationContextId = 1;

    private const long FirstStatusStep = 4 << 20;
    private const long LargestStatusStep = 1L << 30;

    /// <summary>A cache hint is checked and taken: what to keep near is decided below, by heat.</summary>
    internal static LaneTask<IoError> Execute(IBlockStore store, NbdRequest request)
    {
        if (request.Length == 0 && request.Command != NbdCommand.Flush)
        {
            return default;
        }

        return request.Command switch
        {
            NbdCommand.Read => store.Read(request.Offset, request.Buffer),
            NbdCommand.Write => store.Write(request.Offset, request.Buffer, request.WriteFlags),
            NbdCommand.Flush => store.Flush(),
            NbdCommand.Trim => request.Has(NbdCommandFlags.Fua)
                ? UnmapDurably(store, request)
                : store.Unmap(request.Offset, request.Length, request.WriteFlags),
            NbdCommand.WriteZeroes => store.WriteZeroes(request.Offset, request.Length, request.WriteFlags),
            NbdCommand.BlockStatus => Status(store, request),
            _ => default,
        };
    }

    private static async LaneTask<IoError> UnmapDurably(IBlockStore store, NbdRequest request)
    {
        IoError error = await store.Unmap(request.Offset, request.Length, request.WriteFlags & ~WriteFlags.ForceUnitAccess);
        return error == IoError.None ? await store.Flush() : error;
    }

    /// <summary>
    /// Asks in steps, so that a fragmented store yields a bounded list and a plain one an answer for the whole range.
    /// </summary>
    private static async LaneTask<IoError> Status(IBlockStore store, NbdRequest request)
    {
        List<StoreExtent> extents = request.Extents;
        extents.Clear();
        int wanted = request.Has(NbdCommandFlags.RequestOne) ? 1 : MaxExtents;
        long step = FirstStatusStep;
        for (long done = 0; done < request.Length && extents.Count <= wanted; step = Math.Min(step * 2, LargestStatusStep))
        {
            int before = extents.Count;
            long length = Math.Min(step, request.Length - done);
            IoError error = await store.Status(request.Offset + done, length, extents);
            if (error == IoError.NotSupported)
            {
                extents.RemoveRange(before, extents.Count - before);
                extents.Add(new StoreExtent(length, ExtentState.Data));
            }
            else if (error != IoError.None)
            {
                return error;
            }

            done += length;
            Join(extents, before);
            step = extents.Count - before > MaxExtents / 8 ? step / 2 : step;
        }

        request.ReplyWith(EncodeStatus(request, wanted));
        return IoError.None;
    }

    /// <summary>Merges equal neighbours where the answers of two steps meet.</summary>
    private static void Join(List<StoreExtent> extents, int seam)
    {
        if (seam > 0 && seam < extents.Count && extents[seam - 1].State == extents[seam].State)
        {
            extents[seam - 1] = new StoreExtent(extents[seam - 1].Length + extents[seam].Length, extents[seam].State);
            extents.RemoveAt(seam);
        }
    }

    private static int EncodeStatus(NbdRequest request, int wanted)
    {
        Span<byte> bytes = request.Buffer.Span;
        BinaryPrimitives.WriteUInt32BigEndian(bytes, AllocationContextId);
        int at = 4;
        long left = request.Length;
        for (int i = 0; i < request.Extents.Count && i < wanted && left > 0; i++)
        {
            StoreExtent extent = request.Extents[i];
            long length = Math.Min(extent.Length, left);
            BinaryPrimitives.WriteUInt32BigEndian(bytes[at..], (uint)length);
            BinaryPrimitives.WriteUInt32BigEndian(bytes[(at + 4)..], (uint)extent.State);
            left -= length;
            at += 8;
        }

        return at;
    }
}
