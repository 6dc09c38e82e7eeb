using TierSpaces.Engine.Exports.Nbd;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Exports.Fuse;

/// <summary>The slot of one request of a FUSE session that the store carries out.</summary>
internal sealed class FuseRequest(FuseSession session) : StoreCall
{
    private const int BlockBytes = 4096;

    private NbdCommand _command;
    private WriteFlags _flags;
    private FuseRange _range;
    private IoBuffer _data;   // of the memory, what is transferred

    internal override NbdCommand Command => _command;

    internal override long Offset => _range.Offset;

    internal override long Length => _range.Length;

    /// <summary>Identity of the request.</summary>
    internal ulong Unique { get; private set; }

    /// <summary>Memory of its data, as it was rented; length 0 when it has none.</summary>
    internal IoBuffer Memory { get; private set; }

    /// <summary>Whether it is of whole blocks: what is unmapped of a block in part keeps its bytes.</summary>
    private bool IsOfBlocks => ((Offset | Length) & (BlockBytes - 1)) == 0;

    /// <summary>Begins a request; nothing of the one before is left.</summary>
    internal void Begin(ulong unique, NbdCommand command, WriteFlags flags, in FuseRange range, IoBuffer memory)
    {
        BeginCall();
        (Unique, _command, _flags, _range, Memory) = (unique, command, flags, range, memory);
        _data = memory.Length > 0 ? memory.Slice(0, (int)range.Length) : default;
    }

    /// <summary>Returns the data of a read from where the store has left it.</summary>
    internal IoBuffer Settle(BufferPool buffers)
    {
        Memory = buffers.Settle(Memory);
        return Memory.Slice(0, (int)_range.Length);
    }

    /// <summary>Returns the memory, which the slot has no longer.</summary>
    internal IoBuffer TakeMemory()
    {
        IoBuffer memory = Memory;
        Memory = default;
        _data = default;
        return memory;
    }

    /// <inheritdoc/>
    private protected override LaneTask<IoError> Execute(IBlockStore store) => _command switch
    {
        NbdCommand.Read => store.Read(Offset, _data),
        NbdCommand.Write => store.Write(Offset, _data, _flags),
        NbdCommand.Flush => store.Flush(),
        NbdCommand.Trim when IsOfBlocks => store.Unmap(Offset, Length, _flags),   // of a virtual disk: it reads as zeros then, as the kernel expects of a hole
        _ => store.WriteZeroes(Offset, Length, _flags),
    };

    /// <inheritdoc/>
    private protected override void End(IoError error, RequestException? failure) => session.End(this, error, failure);
}
