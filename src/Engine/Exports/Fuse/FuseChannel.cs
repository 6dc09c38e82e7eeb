using System.Text;

namespace TierSpaces.Engine.Exports.Fuse;

/// <summary>
/// A connection to the kernel's FUSE: it outlives the sessions that serve it, which end and begin with the export of their virtual disk. The descriptor
/// stays its opener's; each session has a copy of its own.
/// </summary>
/// <param name="descriptor">An open /dev/fuse that is mounted and does not block.</param>
/// <param name="fileName">Name of the one file in it.</param>
/// <param name="isTakenOver">Whether another process has served it before, which may have left requests without an answer.</param>
public sealed class FuseChannel(int descriptor, string fileName, bool isTakenOver)
{
    private readonly TaskCompletionSource<string> _begun = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private bool _owesAnswers = isTakenOver;
    private volatile bool _isGone;
    private volatile bool _answers;

    /// <summary>Completes when the kernel has begun: empty, or why this connection cannot be served. Never for one that is taken over.</summary>
    public Task<string> Begun => _begun.Task;

    /// <summary>Whether the kernel has ended the connection: it was unmounted or aborted, and nothing serves its file again. Read on any thread.</summary>
    public bool IsGone => _isGone;

    /// <summary>
    /// Whether requests get answers now: a session serves them, and its export is not suspended. A user of the device waits without a limit otherwise, and what
    /// is killed meanwhile keeps others from opening it. Read on any thread.
    /// </summary>
    public bool Answers => _answers && !_isGone;

    internal int Descriptor { get; } = descriptor;

    internal byte[] FileName { get; } = Encoding.UTF8.GetBytes(fileName);

    /// <summary>A session leaves a request without an answer: the next one asks for it again.</summary>
    internal void LeaveUnanswered() => _owesAnswers = true;

    /// <summary>Whether the kernel has to deliver requests again; false from then on.</summary>
    internal bool TakeUnanswered()
    {
        bool owes = _owesAnswers;
        _owesAnswers = false;
        return owes;
    }

    internal void SetGone() => _isGone = true;

    internal void SetAnswers(bool answers) => _answers = answers;

    internal void Begin(string problem) => _begun.TrySetResult(problem);
}
