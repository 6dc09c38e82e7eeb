using System.Management.Automation;
using System.Management.Automation.Runspaces;
using System.Runtime.CompilerServices;
using TierSpaces.Contracts;

namespace TierSpaces.Cmdlets;

/// <summary>
/// Drive letters of volumes as drives of the session, so that <c>E:\file</c> is a path in every cmdlet of the shell. The root of the drive is the folder
/// that the host has mounted the volume at. Each drive comes with a function of its name, as PowerShell has them on Windows, so that <c>E:</c> alone goes
/// there.
///
/// Invariants
///  1. A drive or function that the user made is never replaced or removed: those made here carry a description of their own.
///  2. The host is asked only if the mount table of the kernel changed where a drive letter can be. No host is started.
///  3. A host that cannot be asked changes no drive.
/// </summary>
internal static class SessionDrives
{
    private const string MountTable = "/proc/self/mounts";
    private const string Description = "Volume of TierSpaces";
    private const string Provider = "FileSystem";
    private const string Functions = "function:";
    private const string GoThere = "Set-Location $MyInvocation.MyCommand.Name";   // the text of these functions on Windows

    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(2);
    private static readonly TimeSpan s_retry = TimeSpan.FromSeconds(5);
    private static readonly ConditionalWeakTable<Runspace, Known> s_known = new();

    /// <summary>Adds and removes drives of a session, so that they are the drive letters of the current home.</summary>
    internal static void Update(SessionState session)
    {
        if (Runspace.DefaultRunspace is { } runspace && HasChanged(s_known.GetOrCreateValue(runspace)))
        {
            Replace(session, s_known.GetOrCreateValue(runspace));
        }
    }

    /// <summary>The same when the module is loaded, where there is no session state yet. Costs nothing if nothing is mounted at a drive letter.</summary>
    internal static void UpdateAtImport()
    {
        if (Runspace.DefaultRunspace is not null && LetterMounts().Length > 0
            && ScriptBlock.Create("$ExecutionContext").Invoke() is [{ BaseObject: EngineIntrinsics engine }, ..])
        {
            Update(engine.SessionState);
        }
    }

    /// <summary>Removes the drives made here from a session.</summary>
    internal static void RemoveAll(SessionState session)
    {
        foreach (PSDriveInfo drive in Ours(session))
        {
            Remove(session, drive);
        }

        foreach (string letter in OurFunctions(session))   // of drives that the user has removed
        {
            RemoveFunction(session, letter);
        }

        if (Runspace.DefaultRunspace is { } runspace)
        {
            s_known.Remove(runspace);
        }
    }

    private static bool HasChanged(Known known)
    {
        string home = HostPaths.FromEnvironment().Home;
        string[] mounts = LetterMounts();
        bool same = known.Home == home && known.Mounts.AsSpan().SequenceEqual(mounts) && (known.IsComplete || Environment.TickCount64 < known.AskAgain);
        (known.Home, known.Mounts) = (home, mounts);
        return !same;
    }

    private static void Replace(SessionState session, Known known)
    {
        known.IsComplete = known.Mounts.Length == 0;
        known.AskAgain = Environment.TickCount64 + (long)s_retry.TotalMilliseconds;
        if ((known.IsComplete ? [] : Letters()) is not { } letters)
        {
            known.AskAgain = 0;
            return;
        }

        foreach (PSDriveInfo drive in Ours(session).Where(drive => letters.GetValueOrDefault(drive.Name) != drive.Root))
        {
            Remove(session, drive);
        }

        foreach ((string letter, string root) in letters.Where(letter => Find(session, letter.Key) is null))
        {
            PSDriveInfo drive = new(letter, session.Provider.GetOne(Provider), root, Description, credential: null);
            session.Drive.New(drive, "Global");
            AddFunction(session, letter);
        }

        known.IsComplete = known.Mounts.Length <= letters.Count;
    }

    // If the current location is on the drive, the session moves to the root folder: relative paths would not work any more.
    private static void Remove(SessionState session, PSDriveInfo drive)
    {
        if (session.Path.CurrentLocation.Drive?.Name == drive.Name)
        {
            session.Path.SetLocation(Path.GetPathRoot(drive.Root)!);
        }

        session.Drive.Remove(drive.Name, force: true, "Global");
        RemoveFunction(session, drive.Name);
    }

    private static void AddFunction(SessionState session, string letter)
    {
        if (!session.InvokeProvider.Item.Exists($"{Functions}{letter}:"))
        {
            ScriptBlock body = ScriptBlock.Create(GoThere);
            ((FunctionInfo)session.InvokeProvider.Item.Set($"{Functions}global:{letter}:", body)[0].BaseObject).Description = Description;
        }
    }

    private static void RemoveFunction(SessionState session, string letter)
    {
        if (OurFunctions(session).Contains(letter))
        {
            session.InvokeProvider.Item.Remove($"{Functions}{letter}:", recurse: false);
        }
    }

    private static string[] OurFunctions(SessionState session) =>
    [
        .. session.InvokeProvider.ChildItem.Get(Functions, recurse: false)
            .Select(static item => item.BaseObject).OfType<FunctionInfo>().Where(static function => function.Description == Description)
            .Select(static function => function.Name.TrimEnd(':')),
    ];

    private static PSDriveInfo[] Ours(SessionState session) => [.. session.Drive.GetAll().Where(drive => drive.Description == Description)];

    private static PSDriveInfo? Find(SessionState session, string name) =>
        session.Drive.GetAll().FirstOrDefault(drive => drive.Name.Equals(name, StringComparison.OrdinalIgnoreCase));

    // Null if no host answers.
    private static Dictionary<string, string>? Letters()
    {
        try
        {
            using CancellationTokenSource limit = new(s_patience);
            VolumeInfo[] volumes = HostConnection.Running().SendAsync(new GetVolumeRequest(), limit.Token).GetAwaiter().GetResult().Objects;
            return volumes
                .Select(volume => (Letter: volume.DriveLetter, Root: volume.MountPoints.FirstOrDefault(path => Path.GetFileName(path) == volume.DriveLetter)))
                .Where(volume => volume.Letter is not null && volume.Root is not null)
                .ToDictionary(volume => volume.Letter!, volume => volume.Root!);
        }
        catch (Exception failure) when (failure is StorageException or OperationCanceledException)
        {
            return null;
        }
    }

    // The paths of mounts whose last folder is one capital letter. The kernel's table is read in a fraction of a millisecond.
    private static string[] LetterMounts()
    {
        try
        {
            return [.. File.ReadLines(MountTable).Select(line => line.Split(' ', 3)[1]).Where(path => path is [.., '/', >= 'A' and <= 'Z'])];
        }
        catch (Exception failure) when (failure is IOException or UnauthorizedAccessException)
        {
            return [];
        }
    }

    /// <summary>State that the drives of a session were last set from.</summary>
    private sealed class Known
    {
        public string Home { get; set; } = "";

        public string[] Mounts { get; set; } = [];

        // Whether every mount at a letter is a volume of the host. Else the host is asked again after a while: it may not have opened all of its disks yet.
        public bool IsComplete { get; set; } = true;

        public long AskAgain { get; set; }
    }
}
