using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Devices;

/// <summary>The few things that cannot live on the disks: kept in the host's state folder, or in the simulator's memory.</summary>
public interface IHostState
{
    /// <summary>Identifier of the present run of the machine: another one after each start of it, the same for every process until then.</summary>
    Guid BootId { get; }

    /// <summary>Reads a small file whole, or null when there is none.</summary>
    byte[]? ReadFile(string name);

    /// <summary>Replaces a small file atomically and durably (temporary file, fsync, rename, fsync of the folder).</summary>
    /// <exception cref="IOException">It could not be made durable.</exception>
    void WriteFile(string name, ReadOnlySpan<byte> content);

    /// <summary>Removes a file if it is there.</summary>
    void DeleteFile(string name);

    /// <summary>
    /// Memory of <paramref name="size"/> bytes that outlives this process but not the machine: a shared mapping of a file named
    /// by boot. Zero-filled when new. It is its caller's alone until <see cref="ReturnMemory"/> or <see cref="ReleaseMemory"/>.
    /// </summary>
    IoBuffer MapMemory(string name, int size);

    /// <summary>Gives the memory of that name back with what it holds: the next <see cref="MapMemory"/> finds that.</summary>
    void ReturnMemory(string name);

    /// <summary>Unmaps and deletes the memory of that name.</summary>
    void ReleaseMemory(string name);
}
