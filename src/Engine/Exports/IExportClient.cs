namespace TierSpaces.Engine.Exports;

/// <summary>A client of an export: a connection of NBD, or the kernel through FUSE.</summary>
internal interface IExportClient
{
    /// <summary>The export takes requests again, or memory is there: the client checks what it waits for.</summary>
    void Wake();
}
