using System.Diagnostics;
using TierSpaces.Contracts;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Attaching;
using TierSpaces.Host.Verbs.Mapping;

namespace TierSpaces.Host.Serving;

/// <summary>
/// Heals broken block devices while the host runs: a device whose nbdkit or nbdfuse was killed, or whose connection to the kernel was aborted, reports errors
/// for good. The watch looks every 2 s and makes a new device of the virtual disk. Drive letters and access paths of its volumes move to the new device. What
/// others have mounted stays as it is and reports errors, since writes of its users would go elsewhere without a word. A device that could not be made, on a
/// machine that was too busy for example, is tried again, after twice the time of the attempt before and at least once a minute. A device that breaks again and
/// again is renewed at most once a minute.
/// </summary>
/// <param name="services">The host.</param>
internal sealed class DeviceWatch(HostServices services)
{
    private static readonly TimeSpan s_period = TimeSpan.FromSeconds(2);
    private static readonly TimeSpan s_pause = TimeSpan.FromMinutes(1);
    private readonly Dictionary<string, (long Time, TimeSpan Pause)> _attempts = [];   // the last one of each virtual disk, and the pause after it
    private readonly CancellationTokenSource _stop = new();
    private Task _loop = Task.CompletedTask;

    /// <summary>Starts the watch.</summary>
    public void Start() => _loop = Task.Run(WatchAsync);

    /// <summary>Stops the watch; a renewal under way is carried through.</summary>
    public async Task StopAsync()
    {
        await _stop.CancelAsync().ConfigureAwait(false);
        await _loop.ConfigureAwait(false);
    }

    private async Task WatchAsync()
    {
        while (!_stop.IsCancellationRequested)
        {
            try
            {
                IEnumerable<string> broken = services.Attachments.Broken().Select(static record => record.UniqueId);
                foreach (string uniqueId in broken.Concat(services.Attachments.Failed()).Where(IsTime).ToArray())
                {
                    await services.Changes.WaitAsync(_stop.Token).ConfigureAwait(false);
                    try
                    {
                        await RenewAsync(uniqueId).ConfigureAwait(false);
                    }
                    finally
                    {
                        services.Changes.Release();
                    }
                }

                await Task.Delay(s_period, _stop.Token).ConfigureAwait(false);
            }
            catch (OperationCanceledException)
            {
                return;
            }
            catch (Exception e)
            {
                HostLog.Write($"a device is not made again: {e}");
                await Task.Delay(s_pause, _stop.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            }
        }
    }

    private bool IsTime(string uniqueId) =>
        !_attempts.TryGetValue(uniqueId, out (long Time, TimeSpan Pause) last) || Stopwatch.GetElapsedTime(last.Time) >= last.Pause;

    /// <summary>Makes a new device, unless a verb was faster.</summary>
    private async Task RenewAsync(string uniqueId)
    {
        VirtualDiskStatus? disk = (await services.Subsystem.VirtualDisks.ListAsync().ConfigureAwait(false))
            .FirstOrDefault(disk => disk.SocketPath.Length > 0 && Identifiers.OfVirtualDisk(disk.Description.Id.Value) == uniqueId);
        AttachRecord? broken = services.Attachments.Broken().FirstOrDefault(record => record.UniqueId == uniqueId);
        bool isMissing = services.Attachments.Failed().Contains(uniqueId);
        if (disk is null || (broken is null && !isMissing) || _stop.IsCancellationRequested)
        {
            return;
        }

        if (broken is not null)
        {
            _attempts[uniqueId] = (Stopwatch.GetTimestamp(), s_pause);
            await services.Connections.AttachAgainAsync(disk, broken, $"{broken.Method} ended").ConfigureAwait(false);
        }
        else
        {
            TimeSpan last = _attempts.GetValueOrDefault(uniqueId).Pause;
            TimeSpan pause = last >= s_pause || last == TimeSpan.Zero ? s_period : 2 * last;
            _attempts[uniqueId] = (Stopwatch.GetTimestamp(), pause < s_pause ? pause : s_pause);
            services.Connections.Attach(disk);
        }

        services.Volumes.RestoreLater(services, uniqueId);
    }
}
