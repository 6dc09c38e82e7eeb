using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

/// <summary>
/// A resiliency: its layout and the engine that executes it. A new one is a descriptor, an <see cref="ILayout"/> and an <see cref="ILayoutEngine"/>.
/// </summary>
/// <param name="Name">Name, as <c>Get-ResiliencySetting</c> shows it.</param>
/// <param name="Layout">Returns the layout of a shape.</param>
/// <param name="Engine">Returns the engine of a space.</param>
internal sealed record LayoutDescriptor(string Name, Func<SpaceShape, ILayout> Layout, Func<EngineParts, ILayoutEngine> Engine)
{
    /// <summary>Simple and mirror: a simple space has one copy.</summary>
    internal static LayoutDescriptor Mirror { get; } = new("Mirror", static shape => new MirrorLayout(shape), static parts => new MirrorEngine(parts));

    /// <summary>Single and dual parity.</summary>
    internal static LayoutDescriptor Parity { get; } = new("Parity", static shape => new ParityLayout(shape), static parts => new ParityEngine(parts));

    /// <summary>The resiliency that a shape has in pools.</summary>
    internal static LayoutDescriptor Of(in SpaceShape shape) => shape.Parities > 0 ? Parity : Mirror;
}

/// <summary>Parts that an engine is made of.</summary>
/// <param name="Space">Context that all parts of the space share.</param>
/// <param name="Integrity">Checksum entries.</param>
/// <param name="Changes">Entries that the log does not hold yet.</param>
/// <param name="Records">Records of unflushed writes.</param>
/// <param name="Found">Writes of a process that died, as far as they are not judged.</param>
/// <param name="Log">Integrity log.</param>
/// <param name="Stale">Stale marks.</param>
/// <param name="Flusher">Flushes of the space and of its disks.</param>
internal sealed record EngineParts(
    SpaceContext Space, IntegrityStore Integrity, ChangedEntries Changes, WriteRecords Records, FoundWrites Found, SpaceLog Log, StaleMap Stale,
    SpaceFlusher Flusher);
