namespace TierSpaces.Host.Volumes.FileSystems;

/// <summary>Tools and device of one piece of work on a file system.</summary>
/// <param name="Tools">Programs.</param>
/// <param name="Node">Block device.</param>
/// <param name="Warn">Takes a remark for the user.</param>
/// <param name="Cancellation">Ends long work.</param>
internal sealed record FileSystemWork(VolumeTools Tools, string Node, Action<string> Warn, CancellationToken Cancellation)
{
    /// <summary>Runs a program that may go over the whole file system.</summary>
    public Task<string> RunAsync(string tool, params string[] words) => Tools.RunAsync(tool, VolumeTools.Long, Cancellation, words);

    /// <summary>The same, whatever its exit code.</summary>
    public Task<ToolResult> TryAsync(string tool, params string[] words) => Tools.TryAsync(tool, VolumeTools.Long, Cancellation, "", words);
}
