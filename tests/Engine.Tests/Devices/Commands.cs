using System.ComponentModel;
using System.Diagnostics;

namespace TierSpaces.Engine.Tests.Devices;

/// <summary>Runs a program of the system for a test.</summary>
internal static class Commands
{
    internal static (int ExitCode, string Output, string Error) Run(string program, params string[] arguments)
    {
        try
        {
            ProcessStartInfo start = new(program, arguments) { RedirectStandardOutput = true, RedirectStandardError = true };
            using Process process = Process.Start(start)!;
            Task<string> error = process.StandardError.ReadToEndAsync();
            string output = process.StandardOutput.ReadToEnd();
            process.WaitForExit();
            return (process.ExitCode, output.Trim(), error.Result.Trim());
        }
        catch (Win32Exception missing)
        {
            return (-1, string.Empty, missing.Message);
        }
    }
}
