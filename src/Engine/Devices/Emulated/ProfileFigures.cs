namespace TierSpaces.Engine.Devices.Emulated;

/// <summary>The figures of a class of disk, for requests of 4096 bytes. They follow from the parameters of its model.</summary>
/// <param name="QueueDepth">Requests under way at once for which the rates hold.</param>
/// <param name="ReadsPerSecond">Reads at random places.</param>
/// <param name="WritesPerSecond">Writes at random places.</param>
/// <param name="AccessNs">Mean time of one read at a random place while nothing else is under way.</param>
/// <param name="BytesPerSecond">Rate of requests in sequence.</param>
/// <param name="FlushNs">Time of a flush.</param>
public sealed record ProfileFigures(int QueueDepth, long ReadsPerSecond, long WritesPerSecond, long AccessNs, long BytesPerSecond, long FlushNs)
{
    private const int RequestBytes = 4096;
    private const int FlashQueueDepth = 32;
    private const long Second = 1_000_000_000;

    /// <summary>A rotating disk seeks, and waits for half a turn in the mean.</summary>
    internal static ProfileFigures Of(RotatingParameters parameters, long rotationNs)
    {
        long accessNs = parameters.SeekMeanNs + (rotationNs / 2) + TransferNs(parameters.BytesPerSecond);
        return new ProfileFigures(1, Second / accessNs, Second / accessNs, accessNs, parameters.BytesPerSecond, rotationNs);
    }

    /// <summary>The narrowest of command gate, channels and link decides.</summary>
    internal static ProfileFigures Of(FlashParameters parameters)
    {
        long ofLink = parameters.BytesPerSecond / RequestBytes;
        return new ProfileFigures(
            FlashQueueDepth,
            Math.Min(Math.Min(parameters.ReadsPerSecond, parameters.Channels * Second / parameters.ReadNs), ofLink),
            Math.Min(Math.Min(parameters.WritesPerSecond, parameters.Channels * Second / parameters.WriteNs), ofLink),
            parameters.ReadNs + TransferNs(parameters.BytesPerSecond), parameters.BytesPerSecond, parameters.FlushNs);
    }

    private static long TransferNs(long bytesPerSecond) => RequestBytes * Second / bytesPerSecond;
}
