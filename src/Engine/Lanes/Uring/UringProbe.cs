using TierSpaces.Engine.Lanes.Native;

namespace TierSpaces.Engine.Lanes.Uring;

/// <summary>Finds out whether io_uring can carry a lane here, and says why not when it cannot.</summary>
internal static unsafe class UringProbe
{
    private const RingSetup Cooperative = RingSetup.SubmitAll | RingSetup.CooperativeTaskRun | RingSetup.TaskRunFlag;

    private const RingFeatures Needed =
        RingFeatures.SingleMap | RingFeatures.NoDrop | RingFeatures.ExtendedArgument | RingFeatures.ResourceTags;

    private static readonly RingOpcode[] s_neededOpcodes =
    [
        RingOpcode.Read, RingOpcode.Write, RingOpcode.ReadVectors, RingOpcode.WriteVectors, RingOpcode.Sync, RingOpcode.Allocate, RingOpcode.PollAdd,
        RingOpcode.Cancel,
    ];

    /// <summary>Ways to set a ring up, the best first. Kernels before 6.1, 6.0 or 5.19 refuse flags they do not know with EINVAL.</summary>
    internal static IReadOnlyList<RingSetup> Setups { get; } =
        [Cooperative | RingSetup.SingleIssuer | RingSetup.DeferTaskRun, Cooperative | RingSetup.SingleIssuer, Cooperative, RingSetup.None];

    /// <summary>
    /// A ring with everything a lane needs, set up by the calling thread as its only issuer in the first of these ways that the kernel
    /// takes; null with the reason, which names the refused call or the missing feature.
    /// </summary>
    internal static Ring? CreateRing(uint entries, uint completions, IReadOnlyList<RingSetup> setups, out string? reason)
    {
        Ring? ring = SetUp(entries, completions, setups, out reason);
        if (ring is null)
        {
            return null;
        }

        reason = MissingFeature(ring) ?? MissingOpcode(ring) ?? RefusedEnter(ring);
        if (reason is null)
        {
            return ring;
        }

        ring.Dispose();
        return null;
    }

    private static Ring? SetUp(uint entries, uint completions, IReadOnlyList<RingSetup> setups, out string? reason)
    {
        foreach (RingSetup setup in setups)
        {
            if (Ring.TryCreate(entries, completions, setup, out int errno) is { } ring)
            {
                reason = null;
                return ring;
            }

            if (errno != Errno.EINVAL)
            {
                reason = $"io_uring_setup: {Errno.Describe(errno)}";
                return null;
            }
        }

        reason = $"io_uring_setup: {Errno.Describe(Errno.EINVAL)}";
        return null;
    }

    private static string? MissingFeature(Ring ring)
    {
        RingFeatures missing = Needed & ~ring.Features;
        return missing == 0 ? null : $"io_uring lacks {missing} (kernel 5.13 or later has it)";
    }

    private static string? MissingOpcode(Ring ring)
    {
        const int headerLength = 16;
        const int opcodeLength = 8;
        const int count = 256;
        byte* probe = stackalloc byte[headerLength + (count * opcodeLength)];
        new Span<byte>(probe, headerLength + (count * opcodeLength)).Clear();
        int result = ring.Register(RingAbi.RegisterProbe, probe, count);
        if (result < 0)
        {
            return $"io_uring_register(PROBE): {Errno.Describe(-result)}";
        }

        foreach (RingOpcode opcode in s_neededOpcodes)
        {
            bool known = (byte)opcode <= probe[0];
            bool supported = (probe[headerLength + ((byte)opcode * opcodeLength) + 2] & 1) != 0;
            if (!known || !supported)
            {
                return $"io_uring does not support {opcode}";
            }
        }

        return null;
    }

    /// <summary>An empty request there and back: a filter may allow setup and refuse the rest.</summary>
    private static string? RefusedEnter(Ring ring)
    {
        ring.TryAdd(new SubmissionEntry { Opcode = RingOpcode.Nop });
        int result = ring.Enter(1, -1);
        if (result < 0)
        {
            return $"io_uring_enter: {Errno.Describe(-result)}";
        }

        return ring.TryTake(out CompletionEntry answer) && answer.Result == 0 ? null : "io_uring did not answer an empty request";
    }
}
