using System.Runtime.InteropServices;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Verification;

/// <summary>The host's state folder in memory. Files are durable at once; mapped memory outlives the process, not the machine.</summary>
public sealed unsafe class SimHostState : IHostState
{
    private readonly Dictionary<string, byte[]> _files = [];
    private readonly Dictionary<string, (nint Address, int Size)> _memory = [];
    private readonly HashSet<string> _inUse = [];

    /// <inheritdoc/>
    public Guid BootId { get; private init; } = new(1, 0, 0, new byte[8]);

    /// <summary>Called before a file is replaced; an exception simulates a failing disk.</summary>
    public Action<string>? OnWrite { get; set; }

    /// <summary>The files, by name.</summary>
    internal IReadOnlyDictionary<string, byte[]> Files => _files;

    /// <summary>Bytes of the mapped memory, by name.</summary>
    internal IReadOnlyDictionary<string, int> MemorySizes => _memory.ToDictionary(static block => block.Key, static block => block.Value.Size);

    /// <inheritdoc/>
    public byte[]? ReadFile(string name) => _files.GetValueOrDefault(name);

    /// <inheritdoc/>
    public void WriteFile(string name, ReadOnlySpan<byte> content)
    {
        OnWrite?.Invoke(name);
        _files[name] = content.ToArray();
    }

    /// <inheritdoc/>
    public void DeleteFile(string name) => _files.Remove(name);

    /// <inheritdoc/>
    public IoBuffer MapMemory(string name, int size)
    {
        if (!_inUse.Add(name))
        {
            throw new InvalidOperationException($"The memory '{name}' is mapped already.");
        }

        if (!_memory.TryGetValue(name, out (nint Address, int Size) block) || block.Size != size)
        {
            block = ((nint)NativeMemory.AllocZeroed((nuint)size), size);
            _memory[name] = block;
        }

        return new IoBuffer((byte*)block.Address, size);
    }

    /// <inheritdoc/>
    public void ReturnMemory(string name) => _inUse.Remove(name);

    /// <inheritdoc/>
    public void ReleaseMemory(string name)
    {
        _inUse.Remove(name);
        if (_memory.Remove(name, out (nint Address, int Size) block))
        {
            NativeMemory.Free((void*)block.Address);
        }
    }

    /// <summary>A copy as a crash leaves it: with the memory after a crash of the process, without it after a power cut.</summary>
    public SimHostState Snapshot(bool withMemory)
    {
        byte[] boot = BootId.ToByteArray();
        boot[0] += (byte)(withMemory ? 0 : 1);
        SimHostState copy = new() { BootId = new Guid(boot) };
        foreach ((string name, byte[] content) in _files)
        {
            copy._files[name] = content;
        }

        if (withMemory)
        {
            foreach ((string name, (nint address, int size)) in _memory)
            {
                CopyWritten(new ReadOnlySpan<byte>((void*)address, size), copy.MapMemory(name, size).Span);
                copy.ReturnMemory(name);
            }
        }

        return copy;
    }

    // Most of the memory was never written: it stays untouched in the copy too.
    private static void CopyWritten(ReadOnlySpan<byte> from, Span<byte> to)
    {
        for (int at = 0; at < from.Length; at += 4096)
        {
            ReadOnlySpan<byte> page = from[at..Math.Min(at + 4096, from.Length)];
            if (page.ContainsAnyExcept((byte)0))
            {
                page.CopyTo(to[at..]);
            }
        }
    }

    /// <summary>Frees the mapped memory of a world that is done with.</summary>
    public void Release()
    {
        foreach (string name in _memory.Keys.ToArray())
        {
            ReleaseMemory(name);
        }
    }
}
