BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
    $pool = New-TestPool
}

AfterAll {
    Stop-TestSession
}

Describe 'Get-StorageTierSchedule' {
    It 'is every night at one unless said otherwise' {
        $schedule = Get-StorageTierSchedule
        $schedule.StoragePoolFriendlyName, $schedule.TaskName | Should -Be 'Pool1', 'Storage Tiers Optimization'
        $schedule.Enabled | Should -BeTrue
        $schedule.Time | Should -Be '01:00'
        $schedule.Continuous | Should -BeFalse
        (Get-StorageTierSchedule Pool1).StoragePoolUniqueId | Should -Be $pool.UniqueId
        (Get-StorageTierSchedule -StoragePoolUniqueId $pool.UniqueId).Enabled | Should -BeTrue
        ($pool | Get-StorageTierSchedule).Enabled | Should -BeTrue
        (Get-StorageTierSchedule -InputObject $pool).Enabled | Should -BeTrue
        $schedule | Out-String | Should -BeLike '*StoragePool*TaskName*Enabled*Time*Continuous*'
    }

    It 'does not know a pool that is not there' {
        (Get-WrittenError { Get-StorageTierSchedule Nobody }).FullyQualifiedErrorId |
            Should -Be 'CmdletizationQuery_NotFound_FriendlyName,Get-StorageTierSchedule'
    }
}
