using System.Globalization;
using System.Text;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Jobs;

namespace TierSpaces.Engine.Management;

// The queue depth of repairs is a small file in the state folder: the number as text. A file that is not there, or holds no depth, means the default.

/// <summary>Share of the disks that repairs have while clients use them: the queue depth of repairs, which outlives the host.</summary>
internal sealed class RepairSpeed
{
    /// <summary>The depth until another one is set.</summary>
    internal const int DepthDefault = 4;

    private const string FileName = "repair-queue-depth";

    private readonly object _setting = new();   // verbs set it, on any thread
    private readonly IHostState _state;
    private readonly JobPacing _other;   // of other jobs
    private volatile JobPacing _pacing;

    internal RepairSpeed(IHostState state, JobPacing other)
    {
        (_state, _other) = (state, other);
        bool isRead = int.TryParse(Encoding.ASCII.GetString(state.ReadFile(FileName) ?? []), CultureInfo.InvariantCulture, out int depth);
        Depth = isRead && IsPossible(depth) ? depth : DepthDefault;
        _pacing = PacingOf(Depth);
    }

    /// <summary>The depth: 1, 2, 4, 8 or 16.</summary>
    internal int Depth { get; private set; }

    /// <summary>Limits of repairs now; read on any lane.</summary>
    internal JobPacing Pacing => _pacing;

    internal static bool IsPossible(int depth) => depth is 1 or 2 or 4 or 8 or 16;

    /// <summary>Sets the depth, durably; repairs under way take it at their next pause.</summary>
    /// <exception cref="IOException">It could not be made durable; nothing has changed.</exception>
    internal void Set(int depth)
    {
        lock (_setting)
        {
            _state.WriteFile(FileName, Encoding.ASCII.GetBytes(depth.ToString(CultureInfo.InvariantCulture)));
            Depth = depth;
            _pacing = PacingOf(depth);
        }
    }

    // The default depth has the share of other jobs. The bursts are what makes it faster: a rotating disk moves to the place once for several pieces.
    private JobPacing PacingOf(int depth) => _other with
    {
        SharePercent = depth switch { 1 => 3, 2 => 6, DepthDefault => _other.SharePercent, 8 => 30, _ => 80 },
        Burst = depth switch { 1 => 2, 2 => 4, _ => 8 },
    };
}
