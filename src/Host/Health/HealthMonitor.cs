using System.Diagnostics;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Serving;

namespace TierSpaces.Host.Health;

// Two loops, beside all verbs. One looks at the health, writes each change into the log, and takes at most a twentieth of a processor. The other runs the
// hooks for what has not been reported, one after the other, and saves what has been.

/// <summary>Watches the health of a host that serves: logs its changes, and runs the hooks for them.</summary>
internal sealed class HealthMonitor
{
    private const int CostFactor = 20;
    private static readonly TimeSpan s_period = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan s_startPatience = TimeSpan.FromSeconds(10);

    private readonly HostServices _services;
    private readonly HealthStore _store;
    private readonly HookFolder _folder;
    private readonly TimeSpan _limit;
    private readonly CancellationTokenSource _stop = new();
    private readonly SemaphoreSlim _observed = new(0);
    private readonly Dictionary<Guid, long> _taken = [];   // by virtual disk: blocks taken without proof
    private Task _loops = Task.CompletedTask;

    /// <summary>Makes one that does nothing until <see cref="Start"/>.</summary>
    /// <param name="services">The host.</param>
    /// <param name="state">The host's state.</param>
    /// <param name="folder">Path of the folder of the hooks.</param>
    /// <param name="limit">Longest time that a hook may run.</param>
    public HealthMonitor(HostServices services, IHostState state, string folder, TimeSpan limit) =>
        (_services, _store, _folder, _limit) = (services, new HealthStore(state), new HookFolder(folder), limit);

    /// <summary>Starts both loops.</summary>
    public void Start() => _loops = Task.Run(async () =>
    {
        HealthLedger ledger = new HealthLedger(_store.Read());
        _folder.Read();   // what is wrong with it is in the log before the first fault
        await Task.WhenAll(ObserveAsync(ledger), ReportAsync(ledger)).ConfigureAwait(false);
    });

    /// <summary>Stops both loops. A hook that runs is killed; its change is reported again by the next host.</summary>
    public async Task StopAsync()
    {
        await _stop.CancelAsync().ConfigureAwait(false);
        try
        {
            await _loops.ConfigureAwait(false);
        }
        catch (OperationCanceledException)
        {
            // As asked.
        }
    }

    private async Task ObserveAsync(HealthLedger ledger)
    {
        Stopwatch sinceStart = Stopwatch.StartNew();
        string problem = "";
        while (true)
        {
            Stopwatch watch = Stopwatch.StartNew();
            try
            {
                SubsystemSnapshot now = await _services.Subsystem.SnapshotAsync().ConfigureAwait(false);
                LogTaken(now);
                HealthReport report = HealthReport.Of(now, _services.Volumes.Mounts.Recorded);
                ledger.Observe(report, DateTime.UtcNow, sinceStart.Elapsed < s_startPatience).ForEach(static change => HostLog.Write(change.Line));
                _observed.Release();
                problem = "";
            }
            catch (Exception e) when (e is not OperationCanceledException && e.Message == problem)
            {
                // It is in the log.
            }
            catch (Exception e) when (e is not OperationCanceledException)
            {
                problem = e.Message;
                HostLog.Write($"the health is not known: {e}");
            }

            await Task.Delay(s_period + (CostFactor * watch.Elapsed), _stop.Token).ConfigureAwait(false);
        }
    }

    /// <summary>Logs blocks that were taken without proof since the last look.</summary>
    private void LogTaken(SubsystemSnapshot now)
    {
        foreach (VirtualDiskStatus disk in now.VirtualDisks)
        {
            Guid id = disk.Description.Id.Value;
            long before = _taken.GetValueOrDefault(id);
            _taken[id] = disk.BlocksTakenWithoutProof;
            if (disk.BlocksTakenWithoutProof > before)
            {
                HostLog.Write($"Information: virtual disk '{ObjectHealth.OneLine(disk.Description.FriendlyName)}': "
                    + $"{disk.BlocksTakenWithoutProof - before} blocks were taken without proof after an unclean stop: no flush had covered their last writes.");
            }
        }
    }

    private async Task ReportAsync(HealthLedger ledger)
    {
        while (true)
        {
            await _observed.WaitAsync(_stop.Token).ConfigureAwait(false);
            while (ledger.Take() is { } change)
            {
                foreach (string hook in _folder.Read())
                {
                    Dictionary<string, string> variables = change.Variables;
                    variables[Contracts.HostPaths.HomeVariable] = _services.Paths.Home;
                    string result = await HookRun.RunAsync(hook, variables, _limit, _stop.Token).ConfigureAwait(false);
                    HostLog.Write($"hook {hook}, {change.Event} of {ObjectHealth.OneLine(change.After.Title)}: {result}");
                }

                Save(ledger);
            }

            Save(ledger);
        }
    }

    private void Save(HealthLedger ledger)
    {
        if (ledger.TakeReported() is { } reported)
        {
            _store.Write(reported);
        }
    }
}
