using System.Diagnostics;

namespace TierSpaces.Bench.Tables;

/// <summary>Another NBD server over an image file of its own, from start to end.</summary>
internal sealed class PeerServer : IDisposable
{
    private readonly Process _process;

    private PeerServer(string name, string program, string socket, string[] arguments)
    {
        _process = Programs.Start(program, arguments);
        _process.OutputDataReceived += (_, _) => { };
        _process.BeginOutputReadLine();
        if (!SpinWait.SpinUntil(() => _process.HasExited || File.Exists(socket), TimeSpan.FromSeconds(10)) || _process.HasExited)
        {
            string reason = _process.HasExited ? _process.StandardError.ReadToEnd().Trim() : "it made no socket within 10 s";
            Dispose();
            throw new IOException($"{program} does not serve: {reason}");
        }

        Target = new NbdTarget(name, socket, "", _process.Id);
    }

    internal NbdTarget Target { get; }

    internal static PeerServer Nbdkit(string image, string socket) =>
        new("nbdkit file", "nbdkit", socket, ["-f", "-U", socket, "file", image]);

    /// <param name="image">The file it serves.</param>
    /// <param name="socket">The socket it makes.</param>
    /// <param name="direct">Past the page cache, by io_uring; else as qemu-nbd does of its own.</param>
    internal static PeerServer QemuNbd(string image, string socket, bool direct) => new(
        "qemu-nbd", "qemu-nbd", socket, [.. direct ? ["--cache=none", "--aio=io_uring"] : (string[])[], "-k", socket, "-t", "-f", "raw", image]);

    public void Dispose()
    {
        if (!_process.HasExited)
        {
            _process.Kill();
            _process.WaitForExit();
        }

        _process.Dispose();
    }
}
