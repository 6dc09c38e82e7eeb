BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
    $null = New-PhysicalDisk -Path f1.img, f2.img -Size 256MB -MediaType SSD
    $null = New-PhysicalDisk -Path s1.img, s2.img -Size 256MB -MediaType HDD
    $pool = New-StoragePool -FriendlyName Pool1 -StorageSubSystemFriendlyName * -PhysicalDisks (Get-PhysicalDisk)
    $tiers = (New-StorageTier Pool1 -FriendlyName Fast -MediaType SSD), (New-StorageTier Pool1 -FriendlyName Slow -MediaType HDD)
    $data = New-VirtualDisk Pool1 -FriendlyName Data -StorageTiers $tiers -StorageTierSizes 8MB, 32MB -WriteCacheSize 0
    $plain = New-VirtualDisk Pool1 -FriendlyName Plain -Size 8MB -MediaType HDD -WriteCacheSize 0
}

AfterAll {
    Stop-TestSession
}

Describe 'Optimize-StorageTier' {
    It 'optimizes by tier and by virtual disk, each disk once' {
        $done = Optimize-StorageTier Data_Fast -Confirm:$false
        $done.VirtualDiskFriendlyName, $done.State, $done.PerformanceTierSize | Should -Be 'Data', 'Completed', 8MB
        $done.Tiers.FriendlyName | Should -Be 'Data_Fast', 'Data_Slow'
        $done.SizesRequired[0].PercentOfIo, $done.SizesRequired[-1].PercentOfIo, $done.SizesRequired.Count | Should -Be 100, 5, 20
        @(Optimize-StorageTier 'Data_*').Count | Should -Be 1
        @(Optimize-StorageTier *).Count | Should -Be 1
        (Optimize-StorageTier -UniqueId (Get-StorageTier Data_Slow).UniqueId).State | Should -Be 'Completed'
        (Optimize-StorageTier -InputObject (Get-StorageTier Data_*)).State | Should -Be 'Completed'
        @(Get-StorageTier -VirtualDisk $data | Optimize-StorageTier).VirtualDiskFriendlyName | Should -Be 'Data', 'Data'
        (Optimize-StorageTier -VirtualDisk $data).State | Should -Be 'Completed'
        (Get-VirtualDisk Data | Optimize-StorageTier).State | Should -Be 'Completed'
        (Get-StorageJob -UniqueId $done.StorageJobUniqueId).Name | Should -Be 'Storage Tiers Optimization'
    }

    It 'shows the report of Windows' {
        $shown = Optimize-StorageTier Data_Fast | Out-String
        $shown | Should -BeLike '*Storage Tier Optimization Report:*% I/Os Serviced from Perf Tier  Perf Tier Size Required*'
        $shown | Should -BeLike '*`* Current size of the Performance tier: 8.00 MB*Percent of total I/Os serviced from the Performance tier: 0%*'
        $shown | Should -BeLike '*Size of files pinned to the Performance tier: 0 bytes*Size of files pinned to the Capacity tier: 0 bytes*'
        Optimize-StorageTier Data_Fast | Format-Table | Out-String | Should -BeLike '*VirtualDisk*State*Promoted*Demoted*PerfTierSize*%Before*%After*'
    }

    It 'tells its plan with -WhatIf, and runs as a job' {
        $jobs = @(Get-StorageJob).Count
        Optimize-StorageTier Data_Fast -WhatIf | Should -BeNullOrEmpty
        @(Get-StorageJob).Count | Should -Be $jobs
        ((Optimize-StorageTier Data_Fast -Verbose 4>&1).Message -join "`n") | Should -BeLike "*Optimize the tiers of virtual disk 'Data': move 0 slices*"
        (Optimize-StorageTier Data_Fast -AsJob | Receive-Job -Wait -AutoRemoveJob).State | Should -Be 'Completed'
    }

    It 'takes the most bytes and a latency target, and refuses what is out of range' {
        $done = Optimize-StorageTier Data_Fast -MaximumBytes 8MB -LatencyTarget 20
        $done.State, $done.BytesLeftOut | Should -Be 'Completed', 0
        foreach ($limit in @{ MaximumBytes = 1KB }, @{ MaximumBytes = 0 }, @{ LatencyTarget = 0 }, @{ LatencyTarget = 10001 }) {
            (Get-WrittenError { Optimize-StorageTier Data_Fast @limit }).FullyQualifiedErrorId | Should -Be 'StorageWMI 5,Optimize-StorageTier'
        }
    }

    It 'moves nothing on a virtual disk with one tier, and reports' {
        $null = New-VirtualDisk Pool1 -FriendlyName Only -StorageTiers $tiers[0] -StorageTierSizes 8MB
        $done = Optimize-StorageTier Only_Fast
        $done.State, $done.SlicesPlanned | Should -Be 'Completed', 0
        $done.Report | Should -BeLike "*Current size of the only tier, 'Only_Fast': 8.00 MB*"
    }

    It 'refuses what has no tiers' {
        (Get-WrittenError { Optimize-StorageTier -VirtualDisk $plain }).FullyQualifiedErrorId | Should -Be 'StorageWMI 1,Optimize-StorageTier'
        (Get-WrittenError { Optimize-StorageTier Fast }).FullyQualifiedErrorId | Should -Be 'StorageWMI 5,Optimize-StorageTier'
        (Get-WrittenError { Optimize-StorageTier Nobody }).FullyQualifiedErrorId | Should -Be 'CmdletizationQuery_NotFound_FriendlyName,Optimize-StorageTier'
    }
}
