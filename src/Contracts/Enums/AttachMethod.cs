using System.Text.Json.Serialization;

namespace TierSpaces.Contracts;

/// <summary>Ways to make a block device of a virtual disk. Ours.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<AttachMethod>))]
public enum AttachMethod
{
    /// <summary>None: only the address of its export.</summary>
    NbdUri = 0,

    /// <summary>The kernel's NBD driver.</summary>
    KernelNbd = 1,

    /// <summary>FUSE that the host speaks itself, and a loop device.</summary>
    Fuse = 2,

    /// <summary>nbdkit, nbdfuse and a loop device.</summary>
    NbdFuse = 3,
}
