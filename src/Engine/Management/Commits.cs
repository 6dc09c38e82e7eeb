using TierSpaces.Engine.Pools;

namespace TierSpaces.Engine.Management;

/// <summary>Turns commits that failed into refusals.</summary>
internal static class Commits
{
    /// <summary>Refuses a verb whose commit failed.</summary>
    /// <param name="result">Outcome of the commit.</param>
    /// <param name="what">Name of the object that was to be changed.</param>
    internal static void Require(CommitResult result, string what)
    {
        if (!result.Succeeded)
        {
            throw new ManagementException(
                result.Status switch
                {
                    CommitStatus.NoSpace => ManagementError.NotEnoughCapacity,
                    CommitStatus.Refused => ManagementError.InvalidParameter,
                    _ => ManagementError.PoolStateForbids,
                },
                $"'{what}': {result.Reason}");
        }
    }
}
