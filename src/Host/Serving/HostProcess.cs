using System.Net.Sockets;
using System.Runtime.InteropServices;
using TierSpaces.Contracts;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Primitives;
using TierSpaces.Host.Supervision;
using TierSpaces.Host.Tracing;
using TierSpaces.Host.Verbs;

namespace TierSpaces.Host.Serving;

/// <summary>
/// The life of a host. Order of starting: (1) folder and lock, so that there is one host; (2) socket path; (3) pools, for at most 3 s, then beside the rest;
/// (4) the management socket; (5) <c>ready</c>; (6) supervisor. Order of stopping: (1) <c>stopped</c> in the lock,
/// so that no supervisor and no client starts the host again; (2) no new requests; (3) storage jobs, so that those who wait for them are
/// answered; (4) devices that nothing uses, unless they are to stay; (5) pools; (6) the process ends and the kernel releases the lock.
/// </summary>
internal static class HostProcess
{
    private static readonly TimeSpan s_drainTimeout = TimeSpan.FromSeconds(10);
    private static readonly TimeSpan s_pollInterval = TimeSpan.FromMilliseconds(20);
    private static readonly TimeSpan s_otherHostTimeout = TimeSpan.FromMinutes(1);

    /// <summary>Runs the host of a home until it is asked to stop.</summary>
    /// <exception cref="StorageException">It cannot run; nothing was changed.</exception>
    public static async Task RunAsync(HostPaths paths, ServeOptions options)
    {
        if (options.Detach)
        {
            Detachment.LeaveSession();
        }

        paths.CheckSocketPath(paths.Socket);
        CreateHome(paths);
        if (options.Detach)
        {
            HostLog.WriteTo(paths.Log);
        }

        Invariant.WhenBroken = EndProcess;
        using LockFile? hostLock = await TakeLockAsync(paths, options).ConfigureAwait(false);
        if (hostLock is null)
        {
            Console.Out.WriteLine(ProcessHostLauncher.ReadyLine);
            return;
        }

        SocketPath.Prepare(paths.Socket);
        hostLock.Write($"{Environment.ProcessId}");
        await ServeAsync(paths, options, hostLock).ConfigureAwait(false);
    }

    private static async Task ServeAsync(HostPaths paths, ServeOptions options, LockFile hostLock)
    {
        await using HostServices services = await StartEngineAsync(paths, options).ConfigureAwait(false);
        SupervisorGuard? guard = options.Supervisor == SupervisorKind.Own ? new SupervisorGuard(paths, services.HandOverDevices) : null;
        using PosixSignalRegistration terminate = PosixSignalRegistration.Create(PosixSignal.SIGTERM, context => Obey(context, services));
        using PosixSignalRegistration interrupt = PosixSignalRegistration.Create(PosixSignal.SIGINT, context => Obey(context, services));
        using PosixSignalRegistration hangup = PosixSignalRegistration.Create(PosixSignal.SIGHUP, context => context.Cancel = options.Detach);
        VerbDispatcher dispatcher = new VerbDispatcher(VerbHandlers.Create(services), services.Changes, new TraceHandler(services));
        await using ManagementServer server = new ManagementServer(services, dispatcher);
        await services.Startup.BeginAsync().ConfigureAwait(false);
        await server.StartAsync(CancellationToken.None).ConfigureAwait(false);
        SayReady(paths, options);
        guard?.Start();
        services.Health.Start();
        await services.Startup.RunAsync().ConfigureAwait(false);
        DeviceWatch watch = new DeviceWatch(services);
        watch.Start();
        bool keepsAttached = await services.StopRequested.ConfigureAwait(false);
        ServiceManager.TryNotify("STOPPING=1");
        guard?.Stop();
        hostLock.Write(HostPaths.StoppedLine);
        await services.Health.StopAsync().ConfigureAwait(false);   // what closes now is no fault
        await watch.StopAsync().ConfigureAwait(false);
        using CancellationTokenSource patience = new CancellationTokenSource(s_drainTimeout);
        Task drained = server.StopAsync(patience.Token);
        await services.Subsystem.Jobs.SuspendAllAsync().ConfigureAwait(false);
        await drained.ConfigureAwait(false);
        if (!keepsAttached)
        {
            services.Attachments.DetachIdle();
        }
    }

    private static async Task<HostServices> StartEngineAsync(HostPaths paths, ServeOptions options)
    {
        try
        {
            return await HostServices.StartAsync(paths, options, new HostSettings()).ConfigureAwait(false);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw NoHome(paths, e);
        }
    }

    /// <summary>Ends the process where an invariant of the engine is broken: the next host recovers from the disks, which this one must not write to.</summary>
    private static void EndProcess(InvariantException broken)
    {
        HostLog.Write($"{broken.Message} The host ends; the next one recovers from the disks.");
        HostLog.Flush(HostLog.ExitPatience);
        Environment.FailFast(broken.Message);
    }

    private static void Obey(PosixSignalContext context, HostServices services)
    {
        context.Cancel = true;
        services.RequestStop();
    }

    private static void SayReady(HostPaths paths, ServeOptions options)
    {
        Console.Out.WriteLine(options.Detach
            ? ProcessHostLauncher.ReadyLine
            : $"tierspaces host {Environment.ProcessId} is ready on {paths.Socket}");
        if (options.Detach)
        {
            Detachment.RedirectToLog(paths);
        }

        ServiceManager.TryNotify("READY=1");
        HostLog.Write($"ready on {paths.Socket}");
    }

    private static void CreateHome(HostPaths paths)
    {
        try
        {
            const UnixFileMode ownerOnly = UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute;
            Directory.CreateDirectory(paths.Home, ownerOnly);
            Directory.CreateDirectory(paths.State, ownerOnly);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw NoHome(paths, e);
        }

        RequireOwnHome(paths);
    }

    /// <summary>Another user who can write to the home could make this one, root perhaps, write to any file.</summary>
    private static void RequireOwnHome(HostPaths paths)
    {
        foreach (string? folder in new[] { paths.Home, paths.State })
        {
            if (PrivateFolder.ProblemOf(folder) is { Length: > 0 } problem)
            {
                throw new StorageException(
                    StorageErrors.AccessDenied, $"{HostPaths.HomeVariable} '{paths.Home}': the folder {folder} {problem}.",
                    $"Valid: a folder of the user who runs the host, which no other user may write to. Choose another with {HostPaths.HomeVariable}.",
                    paths.Home);
            }
        }
    }

    /// <summary>
    /// Takes the home's lock. If another host has it, a detached start waits until that host answers (null) or has ended; a start in the foreground
    /// is refused.
    /// </summary>
    private static async Task<LockFile?> TakeLockAsync(HostPaths paths, ServeOptions options)
    {
        using CancellationTokenSource patience = new CancellationTokenSource(s_otherHostTimeout);
        while (true)
        {
            if (TryTakeLock(paths) is { } taken)
            {
                return taken;
            }

            if (options.Detach && Answers(paths))
            {
                return null;
            }

            if (!options.Detach || patience.IsCancellationRequested)
            {
                throw new StorageException(
                    StorageErrors.InUse, $"Process {LockFile.Read(paths.HostLock)} is the host of {paths.Home}.",
                    "Stop it with 'tierspaces stop', or choose another home.", paths.Home);
            }

            await Task.Delay(s_pollInterval).ConfigureAwait(false);
        }
    }

    private static LockFile? TryTakeLock(HostPaths paths)
    {
        try
        {
            return LockFile.TryTake(paths.HostLock);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw NoHome(paths, e);
        }
    }

    private static bool Answers(HostPaths paths)
    {
        try
        {
            using Socket socket = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
            socket.Connect(new UnixDomainSocketEndPoint(paths.Socket));
            return true;
        }
        catch (Exception e) when (e is SocketException or ArgumentException)
        {
            return false;
        }
    }

    private static StorageException NoHome(HostPaths paths, Exception e) => new(
        StorageErrors.AccessDenied, $"The folder {paths.Home} cannot be used: {e.Message}",
        $"Choose another with {HostPaths.HomeVariable}.", paths.Home, e);
}
