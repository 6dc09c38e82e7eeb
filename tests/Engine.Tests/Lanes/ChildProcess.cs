using System.Diagnostics;

namespace TierSpaces.Engine.Tests.Lanes;

/// <summary>Runs one explicit test in a process of its own: for tests that end a process or change its limits.</summary>
internal static class ChildProcess
{
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(120);

    /// <summary>Exit code and everything printed.</summary>
    internal static (int ExitCode, string Output) Run(string method)
    {
        ProcessStartInfo start = new(Environment.ProcessPath!) { RedirectStandardOutput = true, RedirectStandardError = true };
        string assembly = typeof(ChildProcess).Assembly.Location;
        if (Path.GetFileNameWithoutExtension(Environment.ProcessPath!) == "dotnet")
        {
            start.ArgumentList.Add("exec");
            start.ArgumentList.Add(assembly);
        }

        foreach (string argument in new[] { "-method", method, "-explicit", "only", "-noLogo", "-noColor" })
        {
            start.ArgumentList.Add(argument);
        }

        start.Environment["DOTNET_DbgEnableMiniDump"] = "0";
        using Process process = Process.Start(start)!;
        Task<string> output = process.StandardOutput.ReadToEndAsync();
        Task<string> errors = process.StandardError.ReadToEndAsync();
        if (!process.WaitForExit(s_patience))
        {
            process.Kill();
        }

        process.WaitForExit();
        return (process.ExitCode, output.GetAwaiter().GetResult() + errors.GetAwaiter().GetResult());
    }
}
