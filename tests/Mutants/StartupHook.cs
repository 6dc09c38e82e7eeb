using System.Reflection;
using TierSpaces.Mutants;

// The runtime calls it by this name, outside of any namespace, before a program's own code.
#pragma warning disable CA1050

/// <summary>Writes, when a process with a planted engine ends, which places were reached.</summary>
internal static class StartupHook
{
    /// <summary>Environment variable that names the file.</summary>
    internal const string Variable = "TIERSPACES_MUTANTS_REACHED";

    /// <summary>Called by the runtime.</summary>
    internal static void Initialize() => AppDomain.CurrentDomain.ProcessExit += (_, _) =>
    {
        Assembly? engine = Array.Find(AppDomain.CurrentDomain.GetAssemblies(), assembly => assembly.GetName().Name == "TierSpaces.Engine");
        bool[] reached = engine?.GetType(MutantPlanter.Switches)?.GetField("Reached")?.GetValue(null) as bool[] ?? [];
        File.WriteAllText(Environment.GetEnvironmentVariable(Variable)!, string.Join(' ', Enumerable.Range(0, reached.Length).Where(i => reached[i])));
    };
}
