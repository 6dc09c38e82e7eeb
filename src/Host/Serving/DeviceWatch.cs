using System.Diagnostics;
using TierSpaces.Contracts;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Attaching;
using TierSpaces.Host.Verbs.Mapping;

namespace TierSpaces.Host.Serving;

/// <summary>
/// Heals broken block devices while the host runs: a device whose nbdkit or nbdfuse was killed, or whose connection to the kernel was aborted, reports errors
/// for good. The watch looks every 2 s and makes a new device of the virtual disk. Drive letters and access paths of its volumes move to the new device. What
/// others have mounted stays as it is and reports errors, since writes of its users would go elsewhere without a word. A device that breaks again and again is
/// renewed at most once a minute.
/// </summary>
/// <param name="services">The host.</param>
internal sealed class DeviceWatch(HostServices services)
{
    private static readonly TimeSpan s_period = TimeSpan.FromSeconds(2);
    private static readonly TimeSpan s_pause = TimeSpan.FromMinutes(1);
    private readonly Dictionary<string, long> _renewed = [];   // time stamps, by virtual disk
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
                foreach (AttachRecord record in services.Attachments.Broken().Where(IsTime))
                {
                    await services.Changes.WaitAsync(_stop.Token).ConfigureAwait(false);
                    try
                    {
                        await RenewAsync(record.UniqueId).ConfigureAwait(false);
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
                HostLog.Write($"a broken device is not made again: {e}");
                await Task.Delay(s_pause, _stop.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            }
        }
    }

    private bool IsTime(AttachRecord record) => !_renewed.TryGetValue(record.UniqueId, out long time) || Stopwatch.GetElapsedTime(time) >= s_pause;

    /// <summary>Makes a new device, unless a verb was faster.</summary>
    private async Task RenewAsync(string uniqueId)
    {
        VirtualDiskStatus? disk = (await services.Subsystem.VirtualDisks.ListAsync().ConfigureAwait(false))
            .FirstOrDefault(disk => disk.SocketPath.Length > 0 && Identifiers.OfVirtualDisk(disk.Description.Id.Value) == uniqueId);
        AttachRecord? broken = services.Attachments.Broken().FirstOrDefault(record => record.UniqueId == uniqueId);
        if (disk is null || broken is null || _stop.IsCancellationRequested)
        {
            return;
        }

        _renewed[uniqueId] = Stopwatch.GetTimestamp();
        await services.Connections.AttachAgainAsync(disk, broken, $"{broken.Method} ended").ConfigureAwait(false);
        services.Volumes.RestoreLater(services, uniqueId);
    }
}
