using System.Text.Json;
using System.Text.Json.Serialization;

namespace TierSpaces.Contracts;

/// <summary>Serialization of everything that crosses the socket, generated at build: no reflection at run time.</summary>
[JsonSourceGenerationOptions(
    DefaultIgnoreCondition = JsonIgnoreCondition.Never,
    PropertyNameCaseInsensitive = true,
    UnmappedMemberHandling = JsonUnmappedMemberHandling.Disallow)]
[JsonSerializable(typeof(NewPhysicalDiskRequest))]
[JsonSerializable(typeof(RegisterPhysicalDiskRequest))]
[JsonSerializable(typeof(UnregisterPhysicalDiskRequest))]
[JsonSerializable(typeof(GetPhysicalDiskRequest))]
[JsonSerializable(typeof(SetPhysicalDiskRequest))]
[JsonSerializable(typeof(AddPhysicalDiskRequest))]
[JsonSerializable(typeof(RemovePhysicalDiskRequest))]
[JsonSerializable(typeof(ResetPhysicalDiskRequest))]
[JsonSerializable(typeof(NewStoragePoolRequest))]
[JsonSerializable(typeof(GetStoragePoolRequest))]
[JsonSerializable(typeof(SetStoragePoolRequest))]
[JsonSerializable(typeof(RemoveStoragePoolRequest))]
[JsonSerializable(typeof(UpdateStoragePoolRequest))]
[JsonSerializable(typeof(NewVirtualDiskRequest))]
[JsonSerializable(typeof(GetVirtualDiskRequest))]
[JsonSerializable(typeof(SetVirtualDiskRequest))]
[JsonSerializable(typeof(RemoveVirtualDiskRequest))]
[JsonSerializable(typeof(ResizeVirtualDiskRequest))]
[JsonSerializable(typeof(ConnectVirtualDiskRequest))]
[JsonSerializable(typeof(DisconnectVirtualDiskRequest))]
[JsonSerializable(typeof(GetVirtualDiskSupportedSizeRequest))]
[JsonSerializable(typeof(GetStorageSubSystemRequest))]
[JsonSerializable(typeof(GetResiliencySettingRequest))]
[JsonSerializable(typeof(SetResiliencySettingRequest))]
[JsonSerializable(typeof(GetPhysicalExtentRequest))]
[JsonSerializable(typeof(GetStorageCounterRequest))]
[JsonSerializable(typeof(GetTierSpacesHostRequest))]
[JsonSerializable(typeof(StartTierSpacesHostRequest))]
[JsonSerializable(typeof(StopTierSpacesHostRequest))]
[JsonSerializable(typeof(VerbReply<PhysicalDiskInfo>))]
[JsonSerializable(typeof(VerbReply<PhysicalExtentInfo>))]
[JsonSerializable(typeof(VerbReply<ResiliencySettingInfo>))]
[JsonSerializable(typeof(VerbReply<StorageCounterInfo>))]
[JsonSerializable(typeof(VerbReply<StoragePoolInfo>))]
[JsonSerializable(typeof(VerbReply<StorageSubSystemInfo>))]
[JsonSerializable(typeof(VerbReply<SupportedSizeInfo>))]
[JsonSerializable(typeof(VerbReply<TierSpacesHostInfo>))]
[JsonSerializable(typeof(VerbReply<VirtualDiskInfo>))]
[JsonSerializable(typeof(StorageErrorInfo))]
public sealed partial class ContractsJson : JsonSerializerContext;
