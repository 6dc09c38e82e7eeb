using System.Runtime.InteropServices;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Fuzz;

/// <summary>A host's state folder and its mapped memory, in memory. Of the memory only the beginning is kept and copied: what was written.</summary>
internal sealed unsafe class MemoryState : IHostState, IDisposable
{
    /// <summary>Bytes of each mapping that a copy has.</summary>
    internal const int CopiedBytes = 4096;

    private readonly Dictionary<string, nint> _memory = [];
    private readonly HashSet<string> _returned = [];
    private readonly Dictionary<string, byte[]> _beginnings = [];

    /// <summary>Files by name.</summary>
    internal Dictionary<string, byte[]> Files { get; } = [];

    /// <summary>Content of new mappings at their beginning.</summary>
    internal Dictionary<string, byte[]> Beginnings => _beginnings;

    public Guid BootId => Guid.Empty;

    public byte[]? ReadFile(string name) => Files.GetValueOrDefault(name);

    public void WriteFile(string name, ReadOnlySpan<byte> content) => Files[name] = content.ToArray();

    public void DeleteFile(string name) => Files.Remove(name);

    public IoBuffer MapMemory(string name, int size)
    {
        if (_returned.Remove(name))
        {
            return new IoBuffer((byte*)_memory[name], size);
        }

        ReleaseMemory(name);
        _memory[name] = (nint)NativeMemory.AllocZeroed((nuint)size);
        IoBuffer memory = new((byte*)_memory[name], size);
        _beginnings.GetValueOrDefault(name, []).CopyTo(memory.Span);
        return memory;
    }

    public void ReturnMemory(string name) => _returned.Add(name);

    public void ReleaseMemory(string name)
    {
        _returned.Remove(name);
        if (_memory.Remove(name, out nint address))
        {
            NativeMemory.Free((void*)address);
        }
    }

    /// <summary>A copy as the next process finds it.</summary>
    internal MemoryState Copy()
    {
        MemoryState copy = new();
        foreach ((string name, byte[] content) in Files)
        {
            copy.Files[name] = (byte[])content.Clone();
        }

        foreach ((string name, byte[] beginning) in _beginnings)
        {
            copy._beginnings[name] = (byte[])beginning.Clone();
        }

        foreach ((string name, nint address) in _memory)
        {
            copy._beginnings[name] = new ReadOnlySpan<byte>((void*)address, CopiedBytes).ToArray();
        }

        return copy;
    }

    public void Dispose()
    {
        foreach (string name in _memory.Keys.ToArray())
        {
            ReleaseMemory(name);
        }
    }
}
