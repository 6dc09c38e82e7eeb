using TierSpaces.Contracts;

namespace TierSpaces.Host.Verbs.Subsystems;

/// <summary>An object whose counters are printed.</summary>
/// <param name="Name">Friendly name.</param>
/// <param name="UniqueId">Unique identifier.</param>
/// <param name="Object">The object at one moment.</param>
internal readonly record struct CounterInstance<T>(string Name, string UniqueId, T Object);

/// <summary>The same object at two moments: what rates and averages are made of.</summary>
/// <param name="Before">The object at the first moment.</param>
/// <param name="Now">The object at the second moment.</param>
/// <param name="Seconds">Seconds between them, more than 0.</param>
internal readonly record struct CounterSample<T>(T Before, T Now, double Seconds)
{
    /// <summary>Growth of a count. One that was begun again, because its object was closed and opened, has grown from 0.</summary>
    public double Growth(Func<T, double> count) => count(Now) >= count(Before) ? count(Now) - count(Before) : count(Now);

    /// <summary>Growth of a count in a second.</summary>
    public double Rate(Func<T, double> count) => Growth(count) / Seconds;

    /// <summary>Growth of a sum for each event that happened; 0 if none did.</summary>
    public double Average(Func<T, double> sum, Func<T, double> events) => Growth(events) > 0 ? Growth(sum) / Growth(events) : 0;

    /// <summary>Share of a growth in that of several, in percent; 0 if nothing has grown.</summary>
    public double Percent(Func<T, double> part, Func<T, double> whole) => 100 * Average(part, whole);
}

/// <summary>One performance counter class of Windows Storage Spaces, with the counters of it that are known here.</summary>
/// <param name="name">Name of the class without <see cref="CounterSets.Prefix"/>.</param>
/// <param name="counters">Names of its counters.</param>
internal abstract class CounterSet(string name, IEnumerable<string> counters)
{
    /// <summary>Name of the class without <see cref="CounterSets.Prefix"/>.</summary>
    public string Name => name;

    /// <summary>Names of the counters that are printed.</summary>
    public string[] Counters { get; } = [.. counters];

    /// <summary>Reads the counters of some virtual disks, of those that were open at both moments.</summary>
    /// <param name="before">Everything at the first moment.</param>
    /// <param name="now">Everything at the second moment.</param>
    /// <param name="disks">Identities of the virtual disks.</param>
    public abstract IEnumerable<StorageCounterSampleInfo> Read(Catalogue before, Catalogue now, IReadOnlySet<Guid> disks);
}

/// <summary>A counter class whose counters are functions of one kind of object.</summary>
/// <param name="name">Name of the class without its prefix.</param>
/// <param name="find">Returns the objects of some virtual disks.</param>
/// <param name="counters">Names and values of its counters.</param>
internal sealed class CounterSet<T>(
    string name, Func<Catalogue, IReadOnlySet<Guid>, IEnumerable<CounterInstance<T>>> find, (string Name, Func<CounterSample<T>, double> Value)[] counters)
    : CounterSet(name, counters.Select(static counter => counter.Name))
{
    /// <inheritdoc/>
    public override IEnumerable<StorageCounterSampleInfo> Read(Catalogue before, Catalogue now, IReadOnlySet<Guid> disks)
    {
        double seconds = Math.Max(1, now.Now.NowNs - before.Now.NowNs) / 1e9;
        Dictionary<string, T> known = find(before, disks).ToDictionary(static instance => instance.UniqueId, static instance => instance.Object);
        foreach (CounterInstance<T> instance in find(now, disks))
        {
            if (!known.TryGetValue(instance.UniqueId, out T? earlier))
            {
                continue;
            }

            CounterSample<T> sample = new(earlier, instance.Object, seconds);
            foreach ((string counter, Func<CounterSample<T>, double> value) in counters)
            {
                yield return new StorageCounterSampleInfo
                {
                    CounterSet = Name, InstanceName = instance.Name, InstanceUniqueId = instance.UniqueId, CounterName = counter,
                    CookedValue = Math.Round(value(sample), 3), SampleSeconds = Math.Round(seconds, 3),
                };
            }
        }
    }
}
