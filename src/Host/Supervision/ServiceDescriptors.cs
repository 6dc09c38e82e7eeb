using System.Collections.Concurrent;
using System.Globalization;
using TierSpaces.Engine.Lanes.Native;

namespace TierSpaces.Host.Supervision;

/// <summary>
/// Descriptors in the store of systemd (the sd_notify protocol: FDSTORE, FDSTOREREMOVE). systemd keeps them while the service is started again, and passes them
/// to the next process from descriptor 3 on; it drops them when the service is stopped. A name is replaced by a removal and an addition.
/// </summary>
internal sealed class ServiceDescriptors : IKeptDescriptors
{
    /// <summary>Environment variable of the unit by which an administrator says that the unit has a store; systemd 254 and later say it with FDSTORE.</summary>
    public const string Variable = "TIERSPACES_FD_STORE";

    private const int First = 3;
    private const int GetFlags = 1;      // F_GETFD
    private const int SetFlags = 2;      // F_SETFD
    private const int CloseOnExec = 1;
    private readonly ConcurrentDictionary<string, int> _passed = Passed();   // by name; what this process was given, until it is taken

    /// <summary>Returns the store of the service that this process is; null where the service manager has none for it.</summary>
    public static ServiceDescriptors? OfThisProcess() => ServiceManager.IsThere && HasStore() ? new ServiceDescriptors() : null;

    /// <inheritdoc/>
    public bool TryKeep(string id, int descriptor)
    {
        Drop(id);
        return ServiceManager.TryNotify($"FDSTORE=1\nFDPOLL=0\nFDNAME={NameOf(id)}", descriptor);   // not polled: one with an error is kept, too
    }

    /// <inheritdoc/>
    public int Take(string id) => _passed.TryRemove(NameOf(id), out int descriptor) ? descriptor : -1;

    /// <inheritdoc/>
    public void Drop(string id)
    {
        if (_passed.TryRemove(NameOf(id), out int descriptor))
        {
            _ = Libc.Close(descriptor);
        }

        _ = ServiceManager.TryNotify($"FDSTOREREMOVE=1\nFDNAME={NameOf(id)}");
    }

    /// <summary>Names of descriptors are printable ASCII without colons.</summary>
    private static string NameOf(string id) => $"disk-{id.Trim('{', '}')}";

    private static bool HasStore() => IsPositive("FDSTORE") || IsPositive(Variable);

    private static bool IsPositive(string variable) =>
        int.TryParse(Environment.GetEnvironmentVariable(variable), NumberStyles.None, CultureInfo.InvariantCulture, out int value) && value > 0;

    private static ConcurrentDictionary<string, int> Passed()
    {
        ConcurrentDictionary<string, int> passed = [];
        bool isOurs = Environment.GetEnvironmentVariable("LISTEN_PID") == Environment.ProcessId.ToString(CultureInfo.InvariantCulture);
        string[] names = isOurs ? (Environment.GetEnvironmentVariable("LISTEN_FDNAMES") ?? "").Split(':', StringSplitOptions.RemoveEmptyEntries) : [];
        for (int i = 0; i < names.Length; i++)
        {
            int descriptor = First + i;
            if (Libc.FileControl(descriptor, GetFlags, 0) is var flags && flags >= 0)
            {
                _ = Libc.FileControl(descriptor, SetFlags, flags | CloseOnExec);
                passed[names[i]] = descriptor;
            }
        }

        return passed;
    }
}
