using System.Diagnostics;
using System.Globalization;
using System.Text;
using System.Text.Json;

namespace TierSpaces.Conformance;

/// <summary>
/// Calls of every documented parameter set in a shell: does the binder choose the set, and bind the parameters? The table of cmdlets and shapes is printed.
/// Only a shell knows its binder, so that this test needs one.
/// </summary>
public sealed class BindingTests(ITestOutputHelper output)
{
    private const string DefaultSetFirst =
        "Each set needs two properties of the object. The binder chooses the default set before it reads the object, and its tier name is not there.";

    private static readonly TimeSpan s_limit = TimeSpan.FromMinutes(3);

    // Documented calls that the binder of PowerShell cannot bind as documented, with the reason. The same binder refuses them on Windows.
    private static readonly Dictionary<(string Cmdlet, string Set, string Shape), string> s_notBindable = new()
    {
        [("Get-StorageJob", "ByVirtualDisk", "names")] =
            "-Name and -JobState are all that the pages give this set; set ByStoragePool has both too, and the default set has no documented parameter.",
        [("New-Volume", "ByDiskNumber", "positions")] =
            "A function, as on Windows, converts the number to an object of the default set and fails. The cmdlet takes it: New-Volume.Tests.ps1.",
        [("Set-FileStorageTier", "ByDesiredStorageTier", "property")] = DefaultSetFirst,
        [("Set-FileStorageTier", "ByDesiredStorageTierUniqueId", "property")] = DefaultSetFirst,
    };

    private sealed record BindingResult(string[] Bound, string Error);

    [Fact]
    public void Every_documented_set_binds_from_every_shape_of_input()
    {
        BindingCase[] cases = [.. Documented.Cmdlets.Keys.Order().SelectMany(BindingCases.Of)];
        BindingResult[] results = Bind(cases);
        Assert.Equal(cases.Length, results.Length);
        (BindingCase Case, string Fault)[] judged = [.. cases.Zip(results, (one, result) => (one, Fault(one, result)))];

        output.WriteLine(Table(judged));
        string[] faults = [.. judged.Where(one => one.Fault.Length > 0 && !IsListed(one.Case)).Select(one => $"{Name(one.Case)}: {one.Fault}")];
        Assert.True(faults.Length == 0, $"{faults.Length} of {cases.Length} calls do not bind.\n{string.Join('\n', faults)}");
        Assert.Empty(judged.Where(one => one.Fault.Length == 0 && IsListed(one.Case)).Select(one => $"{Name(one.Case)} binds."));
        Assert.Equal(s_notBindable.Count, judged.Count(one => IsListed(one.Case)));
    }

    private static string Name(BindingCase call) => $"{call.Cmdlet}, {call.Set}, {call.Shape}";

    private static bool IsListed(BindingCase call) => s_notBindable.ContainsKey((call.Cmdlet, call.Set, call.Shape));

    // Empty if each object from the pipeline, or the call without one, was bound as documented.
    private static string Fault(BindingCase expected, BindingResult result)
    {
        if (result.Error.Length > 0)
        {
            return result.Error;
        }

        int calls = Math.Max(1, expected.Piped.Length);
        foreach (string bound in result.Bound)
        {
            string[] parts = bound.Split('|');
            string[] missing = [.. expected.Expected.Except(parts[1].Split(' '))];
            if (missing.Length > 0 || !expected.Sets.Contains(parts[0]))
            {
                return $"set {parts[0]} instead of {string.Join(" or ", expected.Sets)}, missing: {string.Join(' ', missing)}";
            }
        }

        return result.Bound.Length == calls ? "" : $"{result.Bound.Length} objects of {calls}";
    }

    private static string Table((BindingCase Case, string Fault)[] judged)
    {
        StringBuilder table = new();
        table.AppendLine($"| Cmdlet | Sets | {string.Join(" | ", BindingCases.Shapes)} |");
        foreach (IGrouping<string, (BindingCase Case, string Fault)> cmdlet in judged.GroupBy(one => one.Case.Cmdlet))
        {
            IEnumerable<string> cells = BindingCases.Shapes.Select(shape => Cell(cmdlet.Where(one => one.Case.Shape == shape)));
            table.AppendLine($"| {cmdlet.Key} | {cmdlet.Select(one => one.Case.Set).Distinct().Count()} | {string.Join(" | ", cells)} |");
        }

        int bound = judged.Count(one => one.Fault.Length == 0), counted = judged.Count(one => !IsListed(one.Case));
        table.AppendLine(string.Create(CultureInfo.InvariantCulture, $"{bound} of {counted} calls bind: {100.0 * bound / counted:0.00} %. Not counted:"));
        foreach (((string cmdlet, string set, string shape), string reason) in s_notBindable)
        {
            table.AppendLine($"- {cmdlet}, {set}, {shape}: {reason}");
        }

        return table.ToString();
    }

    private static string Cell(IEnumerable<(BindingCase Case, string Fault)> judged)
    {
        (BindingCase Case, string Fault)[] all = [.. judged];
        return all.Length == 0 ? "–" : $"{all.Count(one => one.Fault.Length == 0)}/{all.Length}";
    }

    private static BindingResult[] Bind(BindingCase[] cases)
    {
        DirectoryInfo folder = Directory.CreateTempSubdirectory("binding");
        try
        {
            string input = Path.Combine(folder.FullName, "cases.json"), answer = Path.Combine(folder.FullName, "results.json");
            File.WriteAllText(input, JsonSerializer.Serialize(cases));
            string script = Path.Combine(AppContext.BaseDirectory, "Binding.ps1"), module = Path.Combine(AppContext.BaseDirectory, "TierSpaces.Cmdlets.dll");
            string[] arguments = ["-NoProfile", "-NonInteractive", "-File", script, "-Module", module, "-Cases", input, "-Results", answer];
            string said = Run(arguments);
            Assert.True(File.Exists(answer), said);
            return JsonSerializer.Deserialize<BindingResult[]>(File.ReadAllText(answer))!;
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }

    private static string Run(string[] arguments)
    {
        Process? shell = null;
        try
        {
            shell = Process.Start(new ProcessStartInfo("pwsh", arguments) { RedirectStandardError = true, RedirectStandardOutput = true });
        }
        catch (System.ComponentModel.Win32Exception)
        {
            Assert.Skip("pwsh is not installed: https://aka.ms/powershell");
        }

        using (shell)
        {
            Task<string> output = shell!.StandardOutput.ReadToEndAsync(), error = shell.StandardError.ReadToEndAsync();
            Assert.True(shell.WaitForExit(s_limit), $"pwsh did not end in {s_limit.TotalMinutes} minutes.");
            return output.GetAwaiter().GetResult() + error.GetAwaiter().GetResult();
        }
    }
}
