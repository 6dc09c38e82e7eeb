using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Fuzz;

/// <summary>A state folder of one file, whatever it is called, and no memory.</summary>
internal sealed class OneFile : IHostState
{
    /// <summary>Content of the file; null when it is not there.</summary>
    public byte[]? Content { get; set; }

    /// <inheritdoc/>
    public Guid BootId => Guid.Empty;

    public byte[]? ReadFile(string name) => Content;

    /// <inheritdoc/>
    public void WriteFile(string name, ReadOnlySpan<byte> content) => Content = content.ToArray();

    /// <inheritdoc/>
    public void DeleteFile(string name) => Content = null;

    /// <inheritdoc/>
    public IoBuffer MapMemory(string name, int size) => throw new NotSupportedException();

    /// <inheritdoc/>
    public void ReturnMemory(string name) => throw new NotSupportedException();

    /// <inheritdoc/>
    public void ReleaseMemory(string name) => throw new NotSupportedException();
}
