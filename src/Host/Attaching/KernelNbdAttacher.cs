using System.Globalization;
using TierSpaces.Host.Native;

namespace TierSpaces.Host.Attaching;

/// <summary>
/// Attaches with the kernel's own NBD driver through <c>nbd-client</c>, which stays and connects again when the host was away.
/// </summary>
internal sealed class KernelNbdAttacher : IAttacher
{
    private const int TimeoutSeconds = 60;
    private const string Module = "/sys/module/nbd";
    private bool triedToLoad;

    /// <inheritdoc/>
    public string Method => "KernelNbd";

    /// <inheritdoc/>
    public string? Obstacle()
    {
        if (Libc.EffectiveUser() != 0)
        {
            return "kernel NBD needs root";
        }

        LoadModule();
        return !Directory.Exists(Module) ? "this kernel has no module nbd"
            : Tool.Find("nbd-client") is null ? "nbd-client missing; 'apt-get install nbd-client' installs it"
            : FreeDevice() is null ? "every /dev/nbd device is taken"
            : null;
    }

    /// <inheritdoc/>
    public AttachRecord Attach(AttachTarget target, string folder)
    {
        var device = FreeDevice() ?? throw new AttachException("every /dev/nbd device is taken");
        Tool.Run(
            "nbd-client", "-unix", target.Socket, device, "-name", target.ExportName, "-persist",
            "-block-size", target.LogicalSectorSize.ToString(CultureInfo.InvariantCulture),
            "-timeout", TimeoutSeconds.ToString(CultureInfo.InvariantCulture));
        return new AttachRecord
        {
            UniqueId = target.UniqueId, FriendlyName = target.FriendlyName, Method = Method, Device = device, Folder = folder,
            Processes = ClientOf(device) is { } client ? [client] : [],
        };
    }

    /// <inheritdoc/>
    public bool IsIntact(AttachRecord record) =>
        File.Exists(PidFileOf(record.Device)) && record.Processes.All(RunningProcess.IsAlive);

    /// <inheritdoc/>
    public void Resume(AttachRecord record, AttachTarget target)
    {
        // nbd-client connects again by itself.
    }

    /// <inheritdoc/>
    public void Detach(AttachRecord record)
    {
        if (IsIntact(record))
        {
            Tool.Run("nbd-client", "-d", record.Device);
        }
    }

    private void LoadModule()
    {
        if (triedToLoad || Directory.Exists(Module) || Tool.Find("modprobe") is null)
        {
            return;
        }

        triedToLoad = true;
        try
        {
            Tool.Run("modprobe", "nbd");
        }
        catch (AttachException e)
        {
            HostLog.Write(e.Message);
        }
    }

    private static string? FreeDevice() =>
        Directory.GetDirectories("/sys/block", "nbd*").Order(StringComparer.Ordinal)
            .Select(folder => $"/dev/{Path.GetFileName(folder)}")
            .FirstOrDefault(device => !File.Exists(PidFileOf(device)) && File.Exists(device));

    private static ProcessMark? ClientOf(string device) =>
        File.Exists(PidFileOf(device)) && int.TryParse(File.ReadAllText(PidFileOf(device)).Trim(), out var process)
            ? RunningProcess.MarkOf(process)
            : null;

    private static string PidFileOf(string device) => $"/sys/block/{Path.GetFileName(device)}/pid";
}
