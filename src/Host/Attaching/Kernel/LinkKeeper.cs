namespace TierSpaces.Host.Attaching.Kernel;

/// <summary>
/// Gives devices a new connection when theirs has died: those of a host that died, and later whichever the kernel names. One
/// background thread, which begins with the first device and ends with the process.
/// <list type="number">
/// <item>The kernel's news is listened to before the first device is connected again: no death is missed.</item>
/// <item>A connection that cannot be made is tried again every second, for as long as the device is kept.</item>
/// <item>A released device is never connected again: both happen under the lock.</item>
/// </list>
/// </summary>
internal sealed class LinkKeeper(IKernelNbd kernel)
{
    private static readonly TimeSpan s_interval = TimeSpan.FromSeconds(1);
    private readonly object _sync = new();
    private readonly Dictionary<int, AttachTarget> _kept = [];   // under sync
    private readonly Dictionary<int, string> _broken = [];       // under sync; of those kept, with the last complaint
    private bool _isListening;                                   // under sync

    /// <summary>Keeps a device connected that is so now.</summary>
    /// <exception cref="AttachException">The kernel does not tell when connections die.</exception>
    public void Keep(int device, AttachTarget target)
    {
        lock (_sync)
        {
            Listen();
            _kept[device] = target;
        }
    }

    /// <summary>
    /// Keeps a device that another process has connected: its connection has died, and it gets another, now if that is possible.
    /// Nothing happens to one that is kept already.
    /// </summary>
    /// <exception cref="AttachException">The kernel does not tell when connections die.</exception>
    public void TakeOver(int device, AttachTarget target)
    {
        lock (_sync)
        {
            if (!_kept.ContainsKey(device))
            {
                Keep(device, target);
                _broken[device] = "";
                Repair();
            }
        }
    }

    /// <summary>Releases a device: its connection is not renewed any more.</summary>
    public void Forget(int device)
    {
        lock (_sync)
        {
            _kept.Remove(device);
            _broken.Remove(device);
        }
    }

    private void Listen()
    {
        if (_isListening)
        {
            return;
        }

        IDeadLinks links = kernel.Listen();
        new Thread(() => Watch(links)) { IsBackground = true, Name = "nbd links" }.Start();
        _isListening = true;
    }

    private void Watch(IDeadLinks links)
    {
        while (true)
        {
            IReadOnlyList<int>? dead = links.Next(s_interval);
            if (dead is null)
            {
                Thread.Sleep(s_interval);
            }

            lock (_sync)
            {
                foreach (int device in _kept.Keys.Where(device => dead is null || dead.Contains(device)))
                {
                    _broken.TryAdd(device, "");
                }

                Repair();
            }
        }
    }

    private void Repair()
    {
        foreach ((int device, string? before) in _broken.ToArray())
        {
            string name = _kept[device].FriendlyName;
            string? complaint = TryConnect(device, _kept[device]);
            if (complaint is null)
            {
                _broken.Remove(device);
                HostLog.Write($"nbd{device} is connected to virtual disk {name} again");
            }
            else if (complaint != before)
            {
                _broken[device] = complaint;
                HostLog.Write($"nbd{device} is not connected to virtual disk {name}: {complaint}; that is tried again");
            }
        }
    }

    private string? TryConnect(int device, AttachTarget target)
    {
        try
        {
            using ExportConnection export = ExportConnection.Open(target.Socket, target.ExportName);
            kernel.Reconnect(device, export, target.UniqueId);
            return null;
        }
        catch (AttachException e)
        {
            return e.Message;
        }
    }
}
