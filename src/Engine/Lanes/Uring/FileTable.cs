using TierSpaces.Engine.Lanes.Native;

namespace TierSpaces.Engine.Lanes.Uring;

/// <summary>
/// The ring's table of registered files: a sparse table filled as disks open. If the kernel has no table, or if it is full, files are used by
/// descriptor, which costs a reference count per request and has no other effect.
/// </summary>
internal sealed unsafe class FileTable
{
    private const int Capacity = 1024;

    private readonly Ring _ring;
    private readonly Stack<int> _free = new();

    internal FileTable(Ring ring)
    {
        _ring = ring;
        ResourceRegistration sparse = new() { Count = Capacity, Flags = ResourceRegistration.Sparse };
        int result = ring.Register(RingAbi.RegisterFiles2, &sparse, (uint)sizeof(ResourceRegistration));
        IsSupported = result >= 0;
        for (int index = Capacity - 1; IsSupported && index >= 0; index--)
        {
            _free.Push(index);
        }
    }

    /// <summary>Whether the kernel has a table.</summary>
    internal bool IsSupported { get; }

    /// <summary>Registers a descriptor: its index, or -1.</summary>
    internal int Add(int descriptor)
    {
        if (!_free.TryPop(out int index))
        {
            return -1;
        }

        if (Update(index, descriptor) >= 0)
        {
            return index;
        }

        _free.Push(index);
        return -1;
    }

    /// <summary>Takes a descriptor out of the table, so that closing it closes the file.</summary>
    internal void Remove(int index)
    {
        if (index >= 0)
        {
            Update(index, -1);
            _free.Push(index);
        }
    }

    private int Update(int index, int descriptor)
    {
        FileUpdate update = new() { Offset = (uint)index, Descriptors = (ulong)(&descriptor) };
        return _ring.Register(RingAbi.RegisterFilesUpdate, &update, 1);
    }
}
