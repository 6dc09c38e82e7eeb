using Mono.Cecil;
using Mono.Cecil.Cil;

namespace TierSpaces.Mutants;

/// <summary>A mutant and the instructions of the compiled engine that it changes.</summary>
/// <param name="Mutant">Which.</param>
/// <param name="Body">Compiled method.</param>
/// <param name="Instructions">The calls that it leaves out, or the comparison that it makes blind.</param>
public sealed record MutantSite(Mutant Mutant, MethodDefinition Body, IReadOnlyList<Instruction> Instructions);

/// <summary>
/// Finds every place where the layers that carry durability make something durable, wait for it, lock, or compare a checksum. The list
/// follows the code: a new flush becomes a new mutant automatically. Questions about routing (is this disk live, is this copy
/// readable, is there another one) are not on it: turning one around does not take out a rule of order but sends requests elsewhere,
/// which often means to a disk that refuses them, and says nothing about whether the simulator would see a missing wait.
/// </summary>
public static class MutantFinder
{
    private static readonly string[] s_namespaces =
    [
        "TierSpaces.Engine.Formats", "TierSpaces.Engine.Resiliency", "TierSpaces.Engine.Journals", "TierSpaces.Engine.Pools",
        "TierSpaces.Engine.Caching", "TierSpaces.Engine.Tiering", "TierSpaces.Engine.VirtualDisks",
    ];

    private static readonly string[] s_types = ["TierSpaces.Engine.Primitives.BlockLimits", "TierSpaces.Engine.Devices.MeteredDisk"];   // of other namespaces

    private static readonly string[] s_changes = ["MarkWhole"];   // steps that answer how a commit ended

    private static readonly HashSet<string> s_steps =
    [
        "Flush", "FlushDisks", "FlushDisk", "FlushUnflushed", "Commit", "CommitAll", "CommitTail", "CommitNow", "Write", "WriteGroup", "WriteOrEvict",
        "WritePages",
        "WritePageCopies", "WriteSuperblocks", "WriteView", "WriteCopy", "Overwrite", "MarkDirty", "MarkStale", "MarkMissing",
        "ReadBack", "LogTaken", "Resolve", "OnDiskLost", "CommitRow", "Evict", "MakeWhole", "RepeatView", "Settle",
        "NameCheckpoint", "TrimLog", "Writeback", "FlushForRecords", "Heal", "WriteLabels", "ClearAreas", "FlushTarget", "FlushCopy",
        "FlushDevice", "HoldWriteback", "WritebackEnd", "Lock", "FlushBacking", "FlushRing", "FlushMedium", "FlushThere", "WriteAnchor", "DrainReaders",
        "Suspend", "RecordLeavers", "WriteLeavers",
        "Retire", "Record", "MarkVoid", "MarkAllVoid", "WriteStrips", "Replay", "EndWrite",
        "OwnRow", "ClearRow", "MarkNotCleared", "WriteCommonEpoch",
    ];

    /// <summary>All mutants of an engine, in the order of its code.</summary>
    public static IReadOnlyList<MutantSite> FindAll(ModuleDefinition engine)
    {
        List<MutantSite> found = [];
        Dictionary<(string, string, string), int> seen = [];
        foreach ((string type, string method, MethodDefinition body) in Methods(engine))
        {
            List<Instruction> locks = [];
            foreach (Instruction instruction in body.Body.Instructions)
            {
                if (CalledBy(instruction) is not { } called || Place(called, instruction) is not ({ } kind, { } place, { } callee))
                {
                    continue;
                }

                if (kind == MutantKind.DroppedLock)
                {
                    locks.Add(place);
                    continue;
                }

                int index = seen[(type, method, callee)] = seen.GetValueOrDefault((type, method, callee), -1) + 1;
                found.Add(new MutantSite(new Mutant(kind, type, method, callee, index), body, [place]));
            }

            if (locks.Count > 0)
            {
                found.Add(new MutantSite(new Mutant(MutantKind.DroppedLock, type, method, "Acquire and Release", -1), body, locks));
            }
        }

        return found;
    }

    /// <summary>The places of named mutants, whatever the namespace; the name of one that has none is in the exception.</summary>
    /// <exception cref="ArgumentException">A mutant has no place in the engine.</exception>
    public static IReadOnlyList<MutantSite> Find(ModuleDefinition engine, IEnumerable<Mutant> mutants)
    {
        MutantSite[] steps = [.. FindAll(engine)];
        (string Type, string Method, MethodDefinition Body)[] methods = [.. Methods(engine)];
        return [.. mutants.Select(mutant => steps.FirstOrDefault(step => step.Mutant == mutant) ?? Find(methods, mutant))];
    }

    private static MutantSite Find((string Type, string Method, MethodDefinition Body)[] methods, Mutant mutant)
    {
        (MethodDefinition Body, Instruction Place)[] places =
        [
            .. methods.Where(method => method.Type == mutant.Type && method.Method == mutant.Method)
                .SelectMany(method => method.Body.Body.Instructions.Where(instruction => IsPlace(mutant, instruction)), (method, place) =>
                    (method.Body, place)),
        ];
        return mutant.Index < places.Length
            ? new MutantSite(mutant, places[mutant.Index].Body, [places[mutant.Index].Place])
            : throw new ArgumentException($"Mutant '{mutant.Kind} {mutant.Name}' has no place: there are {places.Length}.", nameof(mutant));
    }

    private static bool IsPlace(Mutant mutant, Instruction instruction) => mutant.Kind switch
    {
        MutantKind.MissedCount => instruction.OpCode.Code == Code.Ldc_I4_1 && CountedBy(instruction) == mutant.Callee,
        MutantKind.SkippedStore => instruction.OpCode.Code == Code.Stfld && ((FieldReference)instruction.Operand).Name == mutant.Callee,
        _ => CalledBy(instruction)?.Name == mutant.Callee,
    };

    /// <summary>Which way a number goes for which a 1 is loaded.</summary>
    private static string CountedBy(Instruction one)
    {
        Instruction next = one.Next?.OpCode.Code is Code.Conv_I8 or Code.Conv_U8 ? one.Next.Next : one.Next!;
        return next?.OpCode.Code switch { Code.Add => "+1", Code.Sub => "-1", _ => "" };
    }

    /// <summary>The compiled bodies, each with the type and the method of the source that it comes from.</summary>
    private static IEnumerable<(string Type, string Method, MethodDefinition Body)> Methods(ModuleDefinition engine)
    {
        foreach (TypeDefinition type in engine.Types.Where(type => s_namespaces.Contains(type.Namespace) || s_types.Contains(type.FullName)))
        {
            foreach (MethodDefinition method in type.Methods.Where(method => method.HasBody))
            {
                yield return (type.Name, NameWithin(method.Name), method);
            }

            foreach (TypeDefinition nested in type.NestedTypes)
            {
                int end = nested.Name.LastIndexOf(">d", StringComparison.Ordinal);
                if (end > 0 && nested.Methods.FirstOrDefault(method => method.Name == "MoveNext") is { } body)
                {
                    yield return (type.Name, NameWithin(nested.Name[..end]), body);
                }
            }
        }
    }

    /// <summary>Target of a call or a virtual call.</summary>
    private static MethodReference? CalledBy(Instruction instruction) =>
        instruction.OpCode.Code is Code.Call or Code.Callvirt ? instruction.Operand as MethodReference : null;

    private static (MutantKind? Kind, Instruction? Place, string Callee) Place(MethodReference called, Instruction call)
    {
        string result = called.ReturnType.FullName;
        bool isOurs = called.DeclaringType.FullName.StartsWith("TierSpaces.Engine", StringComparison.Ordinal);
        return !isOurs ? (null, null, "")
            : called.DeclaringType.Name == "RangeLock" && called.Name is "Acquire" or "Release" ? (MutantKind.DroppedLock, call, "")
            : s_changes.Contains(called.Name) || (s_steps.Contains(called.Name) && MutantPlanter.AllWell(result) is not null and not MutantPlanter.CommitResult)
            ? (MutantKind.SkippedStep, call, called.Name)
            : IsChecksum(called) ? (MutantKind.BlindCheck, Comparison(call), "Checksum")
            : (null, null, "");
    }

    private static bool IsChecksum(MethodReference called) =>
        (called.DeclaringType.Name == "Crc32c" && called.Name == "Compute") || called.Name is "ChecksumOf" or "Chain";

    /// <summary>The comparison that a checksum goes into, before anything else is done with it; null where it is stored.</summary>
    private static Instruction? Comparison(Instruction call)
    {
        for (Instruction? next = call.Next; next is not null; next = next.Next)
        {
            if (next.OpCode.Code is Code.Ceq or Code.Beq or Code.Beq_S or Code.Bne_Un or Code.Bne_Un_S)
            {
                return next;
            }

            if ((CalledBy(next) is { } other && (IsChecksum(other) || other.ReturnType.FullName == "System.Void"))
                || next.OpCode.FlowControl is FlowControl.Branch or FlowControl.Cond_Branch or FlowControl.Return
                || next.OpCode.Code is Code.Stfld or Code.Newobj or Code.Stelem_I4 || next.OpCode.Name.StartsWith("stloc", StringComparison.Ordinal))
            {
                return null;
            }
        }

        return null;
    }

    /// <summary>A local function <c>&lt;Outer&gt;g__Inner|…</c> goes by its own name, an async method <c>&lt;Method</c> by its.</summary>
    private static string NameWithin(string compiled)
    {
        string name = compiled.TrimStart('<');
        int inner = name.IndexOf("g__", StringComparison.Ordinal);
        return inner < 0 ? name : name[(inner + 3)..].Split('|')[0];
    }
}
