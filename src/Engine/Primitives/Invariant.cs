using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;

namespace TierSpaces.Engine.Primitives;

// An invariant states a sentence of a type's header or a step of its crash order. It is no check of an argument, of a range or of what a disk
// holds: those are answered with an error, because others than the engine can break them.
//
// Invariants
//  1. A condition is compiled into every build. Where it holds, the check allocates nothing and calls nothing.
//  2. A broken one reaches WhenBroken at the place where it was found, before any handler of exceptions can take it. The host ends its process
//     there; a supervisor starts the next one, which recovers from the disks.
//  3. A check that takes longer than the work that it guards is made only while ChecksCostly is set.

/// <summary>Rules of the engine that are checked while it runs.</summary>
public static class Invariant
{
    private const string CostlySwitch = "TierSpaces.Engine.CostlyInvariants";

    /// <summary>
    /// Whether costly checks are made: tests, simulator and fuzzers set the switch in their runtime configuration. A constant for the compiler at run time.
    /// </summary>
    public static readonly bool ChecksCostly = AppContext.TryGetSwitch(CostlySwitch, out bool isOn) && isOn;

    /// <summary>Gets a broken invariant before it is thrown. The host ends its process here. Set once, before the engine runs.</summary>
    public static Action<InvariantException>? WhenBroken { get; set; }

    /// <summary>Throws when a rule does not hold.</summary>
    /// <param name="condition">The rule as code.</param>
    /// <param name="sentence">The rule in words: a constant.</param>
    /// <exception cref="InvariantException">It does not hold, and <see cref="WhenBroken"/> did not end the process.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void That([DoesNotReturnIf(false)] bool condition, string sentence)
    {
        if (!condition)
        {
            Broken(sentence);
        }
    }

    [DoesNotReturn]
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Broken(string sentence)
    {
        InvariantException broken = new(sentence);
        WhenBroken?.Invoke(broken);
        throw broken;
    }
}
