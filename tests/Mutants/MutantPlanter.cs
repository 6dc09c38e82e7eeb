using Mono.Cecil;
using Mono.Cecil.Cil;
using Mono.Cecil.Rocks;

namespace TierSpaces.Mutants;

/// <summary>
/// Writes an engine with every mutant in it, each asleep: one field says which of them is awake, so that one process, compiled once, can
/// try one after the other. An array notes which places were reached: a seed that does not reach a mutant's place cannot notice it.
/// </summary>
public static class MutantPlanter
{
    /// <summary>Full name of the class that is added: <c>int Awake</c> (0: none), <c>bool[] Reached</c>; mutants count from 1.</summary>
    public const string Switches = "TierSpaces.Engine.PlantedMutants";

    /// <summary>Environment variable that says which mutant is awake when the engine is loaded.</summary>
    public const string Variable = "TIERSPACES_MUTANT";

    private const string IoError = "TierSpaces.Engine.Primitives.IoError";
    private const string Nothing = "TierSpaces.Engine.Primitives.Nothing";

    /// <summary>Full name of how a commit ended.</summary>
    internal const string CommitResult = "TierSpaces.Engine.Pools.CommitResult";

    /// <summary>Reads an engine, plants and writes it to another place; mutant number n is the n-th of the answer, from 1.</summary>
    public static IReadOnlyList<Mutant> PlantAll(string engine, string target, Func<ModuleDefinition, IReadOnlyList<MutantSite>> find)
    {
        using ModuleDefinition module = ModuleDefinition.ReadModule(engine, new ReaderParameters { InMemory = true });
        IReadOnlyList<MutantSite> sites = find(module);
        (FieldDefinition awake, FieldDefinition reached) = AddSwitches(module, sites.Count + 1);
        MethodDefinition[] bodies = [.. sites.Select(site => site.Body).Distinct()];
        Array.ForEach(bodies, method => method.Body.SimplifyMacros());   // short branches may get too long
        for (int i = 0; i < sites.Count; i++)
        {
            foreach (Instruction place in sites[i].Instructions)
            {
                Plant(module, sites[i], place, [Load(OpCodes.Ldsfld, awake), Instruction.Create(OpCodes.Ldc_I4, i + 1)],
                    [Load(OpCodes.Ldsfld, reached), Instruction.Create(OpCodes.Ldc_I4, i + 1), Instruction.Create(OpCodes.Ldc_I4_1),
                    Instruction.Create(OpCodes.Stelem_I1)]);
            }
        }

        Array.ForEach(bodies, method => method.Body.OptimizeMacros());
        module.Write(target);
        return [.. sites.Select(site => site.Mutant)];

        static Instruction Load(OpCode code, FieldDefinition field) => Instruction.Create(code, field);
    }

    /// <summary>The answer that says that all is well, of a call with this result; null where there is none.</summary>
    internal static string? AllWell(string result) => result switch
    {
        "TierSpaces.Engine.Primitives.LaneTask" => "",
        $"TierSpaces.Engine.Primitives.LaneTask`1<{IoError}>" => IoError,
        $"TierSpaces.Engine.Primitives.LaneTask`1<{Nothing}>" => Nothing,
        $"TierSpaces.Engine.Primitives.LaneTask`1<{CommitResult}>" => CommitResult,
        "TierSpaces.Engine.Primitives.LaneTask`1<System.Int32>" => "System.Int32",
        "TierSpaces.Engine.Primitives.LaneTask`1<System.Boolean>" => "System.Boolean",
        _ => null,
    };

    private static (FieldDefinition Awake, FieldDefinition Reached) AddSwitches(ModuleDefinition module, int count)
    {
        TypeDefinition type = new(
            Switches[..Switches.LastIndexOf('.')], Switches[(Switches.LastIndexOf('.') + 1)..],
            TypeAttributes.Public | TypeAttributes.Abstract | TypeAttributes.Sealed | TypeAttributes.BeforeFieldInit, module.TypeSystem.Object);
        FieldDefinition awake = new("Awake", FieldAttributes.Public | FieldAttributes.Static, module.TypeSystem.Int32);
        FieldDefinition reached = new("Reached", FieldAttributes.Public | FieldAttributes.Static, new ArrayType(module.TypeSystem.Boolean));
        MethodDefinition start = new(
            ".cctor", MethodAttributes.Private | MethodAttributes.Static | MethodAttributes.HideBySig | MethodAttributes.SpecialName
                | MethodAttributes.RTSpecialName,
            module.TypeSystem.Void);
        ILProcessor il = start.Body.GetILProcessor();
        il.Emit(OpCodes.Ldc_I4, count);
        il.Emit(OpCodes.Newarr, module.TypeSystem.Boolean);
        il.Emit(OpCodes.Stsfld, reached);
        il.Emit(OpCodes.Ldstr, Variable);
        il.Emit(OpCodes.Call, module.ImportReference(typeof(Environment).GetMethod(nameof(Environment.GetEnvironmentVariable), [typeof(string)])));
        il.Emit(OpCodes.Call, module.ImportReference(typeof(Convert).GetMethod(nameof(Convert.ToInt32), [typeof(string)])));   // 0 of null
        il.Emit(OpCodes.Stsfld, awake);
        il.Emit(OpCodes.Ret);
        type.Fields.Add(awake);
        type.Fields.Add(reached);
        type.Methods.Add(start);
        module.Types.Add(type);
        return (awake, reached);
    }

    /// <summary>
    /// Notes that the place was reached, then does what it did, or while the mutant is awake the wrong thing. In place: branches to it stay right.
    /// </summary>
    private static void Plant(ModuleDefinition module, MutantSite site, Instruction place, Instruction[] isAwake, Instruction[] note)
    {
        ILProcessor il = site.Body.Body.GetILProcessor();
        Instruction original = il.Create(OpCodes.Nop);
        (original.OpCode, original.Operand) = (place.OpCode, place.Operand);
        (place.OpCode, place.Operand) = (OpCodes.Nop, null);
        Instruction last = place;
        if (site.Mutant.Kind == MutantKind.BlindCheck)
        {
            // Of two values that are compared one is compared with itself.
            Append([.. note, .. isAwake, il.Create(OpCodes.Bne_Un, original), il.Create(OpCodes.Pop), il.Create(OpCodes.Dup), original]);
            return;
        }

        if (site.Mutant.Kind == MutantKind.MissedCount)
        {
            // 1 while it is asleep, else 0.
            Append([.. note, .. isAwake, il.Create(OpCodes.Ceq), il.Create(OpCodes.Ldc_I4_0), il.Create(OpCodes.Ceq)]);
            return;
        }

        if (site.Mutant.Kind == MutantKind.TakenForTrue)
        {
            Append([.. note, original, .. isAwake, il.Create(OpCodes.Ceq), il.Create(OpCodes.Or)]);
            return;
        }

        if (site.Mutant.Kind == MutantKind.TakenForFalse)
        {
            // The answer times 1 while it is asleep, else times 0.
            Append([.. note, original, .. isAwake, il.Create(OpCodes.Ceq), il.Create(OpCodes.Ldc_I4_0), il.Create(OpCodes.Ceq), il.Create(OpCodes.Mul)]);
            return;
        }

        if (site.Mutant.Kind == MutantKind.RepeatedCall)
        {
            Append([.. note, .. Twice(module, site.Body, il, original, isAwake)]);
            return;
        }

        if (site.Mutant.Kind == MutantKind.SkippedStore)
        {
            Instruction store = il.Create(OpCodes.Nop);
            Instruction stored = il.Create(OpCodes.Nop);
            (store.OpCode, store.Operand) = (original.OpCode, original.Operand);
            Append([.. note, .. isAwake, il.Create(OpCodes.Bne_Un, store), il.Create(OpCodes.Pop), il.Create(OpCodes.Pop), il.Create(OpCodes.Br, stored), store,
                stored]);
            return;
        }

        MethodReference called = (MethodReference)original.Operand;
        Instruction wrong = il.Create(OpCodes.Nop);
        Instruction end = il.Create(OpCodes.Nop);
        Append([.. note, .. isAwake, il.Create(OpCodes.Beq, wrong), original, il.Create(OpCodes.Br, end), wrong]);
        Append([.. Enumerable.Range(0, called.Parameters.Count + (called.HasThis ? 1 : 0)).Select(_ => il.Create(OpCodes.Pop))]);
        Append([.. Answer(module, site.Body, il, called), end]);

        void Append(Instruction[] instructions)
        {
            foreach (Instruction instruction in instructions)
            {
                il.InsertAfter(last, instruction);
                last = instruction;
            }
        }
    }

    /// <summary>Keeps what the call gets, makes it, and makes it once more while the mutant is awake; the first answer counts.</summary>
    private static List<Instruction> Twice(ModuleDefinition module, MethodDefinition body, ILProcessor il, Instruction call, Instruction[] isAwake)
    {
        MethodReference called = (MethodReference)call.Operand;
        List<VariableDefinition> kept = [.. called.Parameters.Select(parameter => new VariableDefinition(parameter.ParameterType))];
        if (called.HasThis)
        {
            kept.Insert(0, new VariableDefinition(called.DeclaringType.IsValueType ? new ByReferenceType(called.DeclaringType) : called.DeclaringType));
        }

        kept.ForEach(body.Body.Variables.Add);
        Instruction end = il.Create(OpCodes.Nop);
        List<Instruction> twice = [.. Enumerable.Reverse(kept).Select(variable => il.Create(OpCodes.Stloc, variable))];
        twice.AddRange(kept.Select(variable => il.Create(OpCodes.Ldloc, variable)));
        twice.AddRange([il.Create(call.OpCode, called), .. isAwake, il.Create(OpCodes.Bne_Un, end)]);
        twice.AddRange(kept.Select(variable => il.Create(OpCodes.Ldloc, variable)));
        twice.Add(il.Create(call.OpCode, called));
        if (called.ReturnType != module.TypeSystem.Void)
        {
            twice.Add(il.Create(OpCodes.Pop));
        }

        twice.Add(end);
        return twice;
    }

    private static IEnumerable<Instruction> Answer(ModuleDefinition module, MethodDefinition body, ILProcessor il, MethodReference called)
    {
        if (called.ReturnType.FullName == "System.Void")
        {
            return [];
        }

        TypeDefinition laneTask = module.GetType("TierSpaces.Engine.Primitives.LaneTask");
        string type = AllWell(called.ReturnType.FullName)!;
        if (type.Length == 0)
        {
            return [il.Create(OpCodes.Call, laneTask.Methods.Single(method => method.Name == "get_Completed"))];
        }

        GenericInstanceMethod done = new(laneTask.Methods.Single(method => method.Name == "FromResult"));
        done.GenericArguments.Add(type == "System.Int32" ? module.TypeSystem.Int32
            : type == "System.Boolean" ? module.TypeSystem.Boolean : module.GetType(type));
        if (type == CommitResult)
        {
            return [il.Create(OpCodes.Call, module.GetType(CommitResult).Methods.Single(method => method.Name == "get_Committed")),
                il.Create(OpCodes.Call, done)];
        }

        if (type != Nothing)
        {
            // An IoError of 0 is None; an Int32 of −1 is "no disk failed"; a Boolean says that it was done.
            return [il.Create(OpCodes.Ldc_I4, type == IoError ? 0 : type == "System.Boolean" ? 1 : -1), il.Create(OpCodes.Call, done)];
        }

        VariableDefinition nothing = new(module.GetType(Nothing));
        body.Body.Variables.Add(nothing);
        return [il.Create(OpCodes.Ldloca, nothing), il.Create(OpCodes.Initobj, nothing.VariableType), il.Create(OpCodes.Ldloc, nothing),
            il.Create(OpCodes.Call, done)];
    }
}
