using System.Diagnostics;
using Mono.Cecil;
using Mono.Cecil.Cil;

namespace TierSpaces.Simulation.Tests;

/// <summary>
/// Takes one wait, flush or commit at a time out of the compiled engine and lets the simulator look for the loss: a simulator that does not
/// notice a planted fault proves nothing when it is silent.
/// </summary>
public sealed class PlantedFaultTests : IDisposable
{
    private const int SeedsMax = 160;
    private readonly string _folder = Directory.CreateTempSubdirectory("tsf").FullName;

    public static TheoryData<string, string, string, int> Faults => new()
    {
        { "data is not flushed before the entries of first writes", "Space", "FlushRound", 0 },
        { "a flush is acknowledged without flushing", "Space", "FlushRound", 1 },
        { "the dirty mark is not durable before the write", "Space", "MarkDirty", 0 },
        { "blank pages are not flushed before the map is committed", "Space", "MakeRow", 0 },
        { "members are not flushed before their first read", "Space", "Open", 0 },
    };

    public void Dispose() => Directory.Delete(_folder, recursive: true);

    [Theory]
    [MemberData(nameof(Faults))]
    public async Task A_planted_order_fault_is_noticed(string fault, string type, string method, int call)
    {
        Plant(type, method, call);
        (int exit, string output) = await SimulateAsync(SeedsMax);
        Assert.True(exit == 1 && output.Contains("violation:", StringComparison.Ordinal), $"Not noticed within {SeedsMax} seeds: {fault}. {output}");
    }

    [Fact]
    public async Task Without_a_fault_the_same_run_is_clean()
    {
        Copy();
        (int exit, string output) = await SimulateAsync(16);
        Assert.True(exit == 0, output);
    }

    private void Copy()
    {
        string source = Path.GetDirectoryName(typeof(CrashSimulation).Assembly.Location)!;
        foreach (string name in new[] { "TierSpaces.Simulation.dll", "TierSpaces.Simulation.runtimeconfig.json", "TierSpaces.Engine.dll" })
        {
            File.Copy(Path.Combine(source, name), Path.Combine(_folder, name));
        }
    }

    private void Plant(string typeName, string method, int call)
    {
        Copy();
        string path = Path.Combine(_folder, "TierSpaces.Engine.dll");
        using ModuleDefinition engine = ModuleDefinition.ReadModule(path, new ReaderParameters { InMemory = true });
        TypeDefinition type = engine.Types.Single(candidate => candidate.Name == typeName);
        MethodDefinition body = type.NestedTypes.Single(nested => nested.Name.StartsWith($"<{method}>d", StringComparison.Ordinal))
            .Methods.Single(candidate => candidate.Name == "MoveNext");
        Instruction[] waits = [.. body.Body.Instructions.Where(IsWait)];
        Remove(engine, body, waits[call]);
        engine.Write(path);
    }

    private static bool IsWait(Instruction instruction) =>
        instruction.Operand is MethodReference { Name: "FlushDisks" or "Commit" } called
        && called.ReturnType.FullName.Contains("LaneTask`1<TierSpaces.Engine.Primitives.IoError>", StringComparison.Ordinal);

    /// <summary>The call's arguments are dropped and it answers at once that all is well.</summary>
    private static void Remove(ModuleDefinition engine, MethodDefinition body, Instruction wait)
    {
        MethodReference called = (MethodReference)wait.Operand;
        MethodDefinition fromResult = engine.GetType("TierSpaces.Engine.Primitives.LaneTask").Methods.Single(candidate => candidate.Name == "FromResult");
        GenericInstanceMethod done = new(fromResult);
        done.GenericArguments.Add(engine.GetType("TierSpaces.Engine.Primitives.IoError"));
        ILProcessor il = body.Body.GetILProcessor();
        int arguments = called.Parameters.Count + (called.HasThis ? 1 : 0);
        wait.OpCode = OpCodes.Pop;   // in place: branches to the call now reach the first pop
        wait.Operand = null;
        Instruction last = wait;
        for (int i = 1; i < arguments; i++)
        {
            il.InsertAfter(last, last = il.Create(OpCodes.Pop));
        }

        il.InsertAfter(last, last = il.Create(OpCodes.Ldc_I4_0));
        il.InsertAfter(last, il.Create(OpCodes.Call, done));
    }

    private async Task<(int Exit, string Output)> SimulateAsync(int seeds)
    {
        using Process process = Process.Start(new ProcessStartInfo(
            "dotnet", [Path.Combine(_folder, "TierSpaces.Simulation.dll"), "-Seeds", seeds.ToString(), "-SpacesOnly", "-StopAtFirst"]) { RedirectStandardOutput = true })!;
        string output = await process.StandardOutput.ReadToEndAsync(TestContext.Current.CancellationToken);
        await process.WaitForExitAsync(TestContext.Current.CancellationToken);
        return (process.ExitCode, output);
    }
}
