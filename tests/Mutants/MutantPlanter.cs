using Mono.Cecil;
using Mono.Cecil.Cil;

namespace TierSpaces.Mutants;

/// <summary>Writes an engine with one mutant in it.</summary>
public static class MutantPlanter
{
    private const string IoError = "TierSpaces.Engine.Primitives.IoError";
    private const string Nothing = "TierSpaces.Engine.Primitives.Nothing";

    /// <summary>Reads an engine, plants and writes it to another place.</summary>
    public static void Plant(string engine, string target, Mutant mutant)
    {
        using ModuleDefinition module = ModuleDefinition.ReadModule(engine, new ReaderParameters { InMemory = true });
        (_, _, MethodDefinition body) = MutantFinder.Methods(module).Single(method =>
            method.Type == mutant.Type && method.Method == mutant.Method && Calls(method.Body, mutant).Length > 0);
        foreach (Instruction call in Calls(body, mutant))
        {
            Replace(module, body, call, mutant.Kind);
        }

        module.Write(target);
    }

    /// <summary>The answer that says that all is well, of a call with this result; null where there is none.</summary>
    internal static string? AllWell(string result) => result switch
    {
        "TierSpaces.Engine.Primitives.LaneTask" => "",
        $"TierSpaces.Engine.Primitives.LaneTask`1<{IoError}>" => IoError,
        $"TierSpaces.Engine.Primitives.LaneTask`1<{Nothing}>" => Nothing,
        "TierSpaces.Engine.Primitives.LaneTask`1<System.Int32>" => "System.Int32",
        _ => null,
    };

    private static Instruction[] Calls(MethodDefinition body, Mutant mutant)
    {
        Instruction[] calls = [.. body.Body.Instructions.Where(instruction =>
            MutantFinder.CalledBy(instruction) is { } called
            && MutantFinder.KindOf(called) == mutant.Kind && (mutant.Index < 0 || called.Name == mutant.Callee))];
        return mutant.Index < 0 ? calls : mutant.Index < calls.Length ? [calls[mutant.Index]] : [];
    }

    /// <summary>The call's arguments are dropped, and the answer is there at once. In place: branches to the call reach the first pop.</summary>
    private static void Replace(ModuleDefinition module, MethodDefinition body, Instruction call, MutantKind kind)
    {
        MethodReference called = (MethodReference)call.Operand;
        ILProcessor il = body.Body.GetILProcessor();
        int arguments = called.Parameters.Count + (called.HasThis ? 1 : 0);
        call.OpCode = arguments > 0 ? OpCodes.Pop : OpCodes.Nop;
        call.Operand = null;
        Instruction last = call;
        for (int i = 1; i < arguments; i++)
        {
            il.InsertAfter(last, last = il.Create(OpCodes.Pop));
        }

        foreach (Instruction step in Answer(module, body, il, called, kind))
        {
            il.InsertAfter(last, last = step);
        }
    }

    private static IEnumerable<Instruction> Answer(ModuleDefinition module, MethodDefinition body, ILProcessor il, MethodReference called, MutantKind kind)
    {
        if (kind == MutantKind.BlindCheck)
        {
            return [il.Create(called.Name == "AllNeverWritten" ? OpCodes.Ldc_I4_0 : OpCodes.Ldc_I4_1)];
        }

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
        done.GenericArguments.Add(type == "System.Int32" ? module.TypeSystem.Int32 : module.GetType(type));
        if (type != Nothing)
        {
            // An IoError of 0 is None; an Int32 of −1 is "no disk failed".
            return [il.Create(type == IoError ? OpCodes.Ldc_I4_0 : OpCodes.Ldc_I4_M1), il.Create(OpCodes.Call, done)];
        }

        VariableDefinition nothing = new(module.GetType(Nothing));
        body.Body.Variables.Add(nothing);
        return [il.Create(OpCodes.Ldloca, nothing), il.Create(OpCodes.Initobj, nothing.VariableType), il.Create(OpCodes.Ldloc, nothing), il.Create(OpCodes.Call, done)];
    }
}
