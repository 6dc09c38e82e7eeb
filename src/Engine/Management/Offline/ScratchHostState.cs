using System.Runtime.InteropServices;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Management;

/// <summary>A host state that ends with the process: no witness, no record memory of an earlier one.</summary>
internal sealed unsafe class ScratchHostState : IHostState
{
    private readonly Dictionary<string, byte[]> _files = [];
    private readonly Dictionary<string, nint> _memory = [];

    public Guid BootId => Guid.Empty;

    public byte[]? ReadFile(string name) => _files.GetValueOrDefault(name);

    public void WriteFile(string name, ReadOnlySpan<byte> content) => _files[name] = content.ToArray();

    public void DeleteFile(string name) => _files.Remove(name);

    public IoBuffer MapMemory(string name, int size)
    {
        if (!_memory.TryGetValue(name, out nint address))
        {
            _memory[name] = address = (nint)NativeMemory.AllocZeroed((nuint)size);
        }

        return new IoBuffer((byte*)address, size);
    }

    public void ReturnMemory(string name)
    {
    }

    public void ReleaseMemory(string name)
    {
        if (_memory.Remove(name, out nint address))
        {
            NativeMemory.Free((void*)address);
        }
    }
}
