using System.Text.Json;
using TierSpaces.Contracts;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs;
using TierSpaces.Host.Verbs.Mapping;

namespace TierSpaces.Host.Tracing;

/// <summary>Answers <see cref="TraceCommand"/>.</summary>
internal sealed class TraceHandler(HostServices services) : IHostCommand
{
    /// <inheritdoc/>
    public string Name => TraceCommand.Name;

    /// <inheritdoc/>
    public async Task<byte[]> RunAsync(byte[] body, CancellationToken cancellation)
    {
        TraceReply reply;
        try
        {
            TraceRequest request = JsonSerializer.Deserialize(body, TraceJson.Default.TraceRequest)
                ?? throw new StorageException(StorageErrors.InvalidParameter, "The request is empty.");
            TimeSpan time = TimeSpan.FromSeconds(Math.Clamp(request.Seconds, 0, 2 * TraceService.LongestTime.TotalSeconds));
            TraceReport report = await services.Subsystem.Traces.TraceAsync(request.VirtualDisk, time, request.Count, cancellation).ConfigureAwait(false);
            reply = new TraceReply(report, null);
        }
        catch (ManagementException rejected)
        {
            reply = new TraceReply(null, EngineErrors.ToError(rejected).Error);
        }
        catch (StorageException rejected)
        {
            reply = new TraceReply(null, rejected.Error);
        }
        catch (JsonException damage)
        {
            reply = new TraceReply(null, new StorageException(StorageErrors.InvalidParameter, $"The request cannot be read: {damage.Message}").Error);
        }

        return JsonSerializer.SerializeToUtf8Bytes(reply, TraceJson.Default.TraceReply);
    }
}
