namespace TierSpaces.Engine.Devices.Emulated;

/// <summary>A class of disk: what it calls itself and how fast it is.</summary>
public sealed record LatencyProfile
{
    private LatencyProfile(
        string name, MediaType mediaType, BusType busType, uint spindleSpeed, ProfileFigures figures, Func<long, IMediumModel> createModel)
    {
        Figures = figures;
        Name = name;
        MediaType = mediaType;
        BusType = busType;
        SpindleSpeed = spindleSpeed;
        CreateModel = createModel;
    }

    /// <summary>Every profile.</summary>
    public static IReadOnlyList<LatencyProfile> All { get; } =
    [
        Rotating("HDD5400", BusType.SATA, 5400, new RotatingParameters(SeekMinNs: 1_000_000, SeekMeanNs: 11_100_000, 110_000_000)),
        Rotating("HDD7200", BusType.SATA, 7200, new RotatingParameters(SeekMinNs: 800_000, SeekMeanNs: 8_300_000, 150_000_000)),
        Rotating("HDD10K", BusType.SAS, 10_000, new RotatingParameters(SeekMinNs: 400_000, SeekMeanNs: 3_640_000, 180_000_000)),
        Rotating("HDD15K", BusType.SAS, 15_000, new RotatingParameters(SeekMinNs: 300_000, SeekMeanNs: 2_980_000, 220_000_000)),
        Flash("SSDSata", BusType.SATA, new FlashParameters(100_000, 60_000, 70_000, 50_000, Channels: 8, 500_000_000, FlushNs: 1_000_000)),

        // Eight channels of 100 µs end at 80 000 reads a second, below this row's cap: ten.
        Flash("SSDSas", BusType.SAS, new FlashParameters(100_000, 60_000, 90_000, 40_000, Channels: 10, 750_000_000, FlushNs: 50_000)),
        Flash("NVMe", BusType.NVMe, new FlashParameters(80_000, 20_000, 400_000, 200_000, Channels: 32, 3_000_000_000, FlushNs: 30_000)),
    ];

    /// <summary>Name, as given in <c>emulated:</c> URIs and -LatencyProfile.</summary>
    public string Name { get; }

    /// <summary>Medium that the profile models.</summary>
    public MediaType MediaType { get; }

    /// <summary>Bus that the profile models.</summary>
    public BusType BusType { get; }

    /// <summary>Revolutions per minute, 0 for none.</summary>
    public uint SpindleSpeed { get; }

    /// <summary>Rates and times of a disk of the profile.</summary>
    public ProfileFigures Figures { get; }

    /// <summary>Makes the model of one disk of so many bytes.</summary>
    internal Func<long, IMediumModel> CreateModel { get; }

    /// <summary>The profile of that name in any case, or null.</summary>
    public static LatencyProfile? Find(string name) =>
        All.FirstOrDefault(profile => profile.Name.Equals(name, StringComparison.OrdinalIgnoreCase));

    /// <summary>Returns the properties that the user gives, completed with those of the profile.</summary>
    internal DiskOverrides Complete(DiskOverrides overrides) => overrides with
    {
        MediaType = overrides.MediaType ?? MediaType,
        BusType = overrides.BusType ?? BusType,
        SpindleSpeed = overrides.SpindleSpeed ?? (overrides.MediaType is null || overrides.MediaType == MediaType ? SpindleSpeed : null),
    };

    private static LatencyProfile Rotating(string name, BusType bus, uint speed, RotatingParameters parameters) =>
        new(name, MediaType.HDD, bus, speed, ProfileFigures.Of(parameters, 60_000_000_000 / speed),
            length => new RotatingModel(parameters, 60_000_000_000 / speed, length));

    private static LatencyProfile Flash(string name, BusType bus, FlashParameters parameters) =>
        new(name, MediaType.SSD, bus, 0, ProfileFigures.Of(parameters), _ => new FlashModel(parameters));
}
