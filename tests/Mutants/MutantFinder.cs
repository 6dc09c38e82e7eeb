using Mono.Cecil;
using Mono.Cecil.Cil;

namespace TierSpaces.Mutants;

/// <summary>
/// Finds every place where the storeys that carry durability make something durable, wait for it, lock or judge. The list follows the
/// code: a new flush is a new mutant, without anyone remembering it.
/// </summary>
public static class MutantFinder
{
    private static readonly string[] s_namespaces =
        ["TierSpaces.Engine.Resiliency", "TierSpaces.Engine.Journals", "TierSpaces.Engine.Pools", "TierSpaces.Engine.VirtualDisks"];

    private static readonly HashSet<string> s_steps =
    [
        "Flush", "FlushDisks", "FlushDisk", "FlushUnflushed", "Commit", "CommitTail", "CommitNow", "Write", "WriteGroup", "WriteMember", "WritePages",
        "WritePageCopies", "WriteSuperblocks", "WriteView", "WriteCopy", "Overwrite", "MarkDirty", "MarkStale", "MarkMissing", "MarkMissingStale",
        "SettleMissing", "NoteFirstWrites", "ReadBack", "LogTaken", "Resolve", "OnDiskLost", "CommitRow", "Evict", "MakeWhole", "RepeatView", "Settle",
        "NameCheckpoint", "TrimLog", "Writeback", "FlushForNotes", "Heal", "WriteLabels", "ClearAreas",
    ];

    private static readonly HashSet<string> s_checks = ["Verify", "IsReadable", "IsLive", "AllNeverWritten", "HasOther", "HasOtherCopies"];

    /// <summary>All mutants of an engine, in the order of its code.</summary>
    public static IReadOnlyList<Mutant> FindAll(ModuleDefinition engine)
    {
        List<Mutant> found = [];
        foreach ((string type, string name, MethodDefinition body) in Methods(engine))
        {
            bool locks = false;
            Dictionary<string, int> seen = [];
            foreach (MethodReference called in body.Body.Instructions.Select(CalledBy).OfType<MethodReference>())
            {
                MutantKind? kind = KindOf(called);
                if (kind == MutantKind.DroppedLock)
                {
                    locks = true;
                }
                else if (kind is { } one)
                {
                    int index = seen[called.Name] = seen.GetValueOrDefault(called.Name, -1) + 1;
                    found.Add(new Mutant(one, type, name, called.Name, index));
                }
            }

            if (locks)
            {
                found.Add(new Mutant(MutantKind.DroppedLock, type, name, "Acquire and Release", -1));
            }
        }

        return found;
    }

    /// <summary>The compiled bodies, each with the type and the method of the source that it comes from.</summary>
    internal static IEnumerable<(string Type, string Method, MethodDefinition Body)> Methods(ModuleDefinition engine)
    {
        foreach (TypeDefinition type in engine.Types.Where(type => s_namespaces.Contains(type.Namespace)))
        {
            foreach (MethodDefinition method in type.Methods.Where(method => method.HasBody))
            {
                yield return (type.Name, method.Name, method);
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

    /// <summary>What a call or a virtual call calls.</summary>
    internal static MethodReference? CalledBy(Instruction instruction) =>
        instruction.OpCode.Code is Code.Call or Code.Callvirt ? instruction.Operand as MethodReference : null;

    internal static MutantKind? KindOf(MethodReference called)
    {
        string result = called.ReturnType.FullName;
        bool isOurs = called.DeclaringType.FullName.StartsWith("TierSpaces.Engine", StringComparison.Ordinal);
        return !isOurs ? null
            : called.DeclaringType.Name == "RangeLock" && called.Name is "Acquire" or "Release" ? MutantKind.DroppedLock
            : s_steps.Contains(called.Name) && MutantPlanter.AllWell(result) is not null ? MutantKind.SkippedStep
            : s_checks.Contains(called.Name) && result == "System.Boolean" ? MutantKind.BlindCheck
            : null;
    }

    /// <summary>A local function <c>&lt;Outer&gt;g__Inner|…</c> goes by its own name, an async method <c>&lt;Method</c> by its.</summary>
    private static string NameWithin(string compiled)
    {
        string name = compiled.TrimStart('<');
        int inner = name.IndexOf("g__", StringComparison.Ordinal);
        return inner < 0 ? name : name[(inner + 3)..].Split('|')[0];
    }
}
