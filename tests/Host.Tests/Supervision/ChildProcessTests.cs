using TierSpaces.Contracts;
using TierSpaces.Host.Supervision;

namespace TierSpaces.Host.Tests.Supervision;

/// <summary>The cause that is named where the other half of the pair does not start.</summary>
public class ChildProcessTests
{
    [Theory]
    [InlineData("echo ready", "")]
    [InlineData("kill -9 $$", "it was killed by signal 9 before it was ready.")]
    [InlineData("exit 7", "it ended with exit code 7 before it was ready.")]
    [InlineData("echo the folder is gone >&2; exit 1", "the folder is gone.")]
    public void A_process_that_ends_before_it_is_ready_has_its_cause_named(string script, string complaint) =>
        Assert.Equal(complaint, ChildProcess.Start("/bin/sh", new HostPaths("/nowhere"), "-c", script));
}
