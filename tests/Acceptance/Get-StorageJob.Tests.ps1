BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
    Get-StorageJob | Should -BeNullOrEmpty
    $null = New-TestPool
    $null = New-TestPool -Name Pool2
    $null = New-VirtualDisk Pool1 -FriendlyName Data -Size 32MB
    $null = New-VirtualDisk Pool2 -FriendlyName Other -Size 32MB
    Repair-VirtualDisk Data, Other
}

AfterAll {
    Stop-TestSession
}

Describe 'Get-StorageJob' {
    It 'lists jobs that have ended, with the documented type name and default table' {
        $jobs = Get-StorageJob
        $jobs.Count | Should -Be 2
        $jobs[0].PSTypeNames[0] | Should -BeLike '*#ROOT/Microsoft/Windows/Storage/MSFT_StorageJob'
        ($jobs | Out-String -Width 200) -split "`n" | Where-Object { $_ -match '^Name' } |
            Should -Match '^Name\s+IsBackgroundTask\s+ElapsedTime\s+JobState\s+PercentComplete\s+BytesProcessed\s+BytesTotal'
        [TimeSpan] $jobs[0].ElapsedTime | Should -BeLessThan ([TimeSpan] '00:01:00')
        [TimeSpan] $jobs[0].TimeBeforeRemoval | Should -Be ([TimeSpan] '00:10:00')
    }

    It 'finds by identifier, by name and by state' {
        $job = Get-StorageJob | Select-Object -First 1
        (Get-StorageJob -UniqueId $job.UniqueId).UniqueId | Should -Be $job.UniqueId
        ($job | Get-StorageJob).UniqueId | Should -Be $job.UniqueId
        @(Get-StorageJob -Name 'Rep*').Count | Should -Be 2
        @(Get-StorageJob -JobState Completed).Count | Should -Be 2
        Get-StorageJob -JobState Running, Suspended | Should -BeNullOrEmpty
        Get-StorageJob -Name 'Nothing*' | Should -BeNullOrEmpty
    }

    It 'finds by pool, by virtual disk and by subsystem, from the pipeline too' {
        (Get-StoragePool Pool1 | Get-StorageJob).StoragePoolUniqueId | Should -Be (Get-StoragePool Pool1).UniqueId
        (Get-VirtualDisk Other | Get-StorageJob).VirtualDiskUniqueId | Should -Be (Get-VirtualDisk Other).UniqueId
        @(Get-StorageSubSystem | Get-StorageJob).Count | Should -Be 2
    }

    It 'leads to its virtual disk and its pool' {
        $job = Get-StorageJob -VirtualDisk (Get-VirtualDisk Data)
        ($job | Get-VirtualDisk).FriendlyName | Should -Be 'Data'
        ($job | Get-StoragePool).FriendlyName | Should -Be 'Pool1'
    }

    It 'names a job that is not there' {
        (Get-WrittenError { Get-StorageJob -UniqueId '{00000000-0000-0000-0000-000000000000}' }).FullyQualifiedErrorId |
            Should -Be 'CmdletizationQuery_NotFound_UniqueId,Get-StorageJob'
    }
}
