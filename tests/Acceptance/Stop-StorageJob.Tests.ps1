BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
    $null = New-TestPool
    $null = New-VirtualDisk Pool1 -FriendlyName Data -Size 32MB
    Repair-VirtualDisk Data
    $job = Get-StorageJob
}

AfterAll {
    Stop-TestSession
}

Describe 'Stop-StorageJob' {
    It 'refuses a job that has ended, however it is named' {
        (Get-WrittenError { Stop-StorageJob -UniqueId $job.UniqueId }).FullyQualifiedErrorId | Should -Be 'StorageWMI 5,Stop-StorageJob'
        (Get-WrittenError { Stop-StorageJob -Name Repair }).FullyQualifiedErrorId | Should -Be 'StorageWMI 5,Stop-StorageJob'
        (Get-WrittenError { $job | Stop-StorageJob }).FullyQualifiedErrorId | Should -Be 'StorageWMI 5,Stop-StorageJob'
        (Get-StorageJob).JobState | Should -Be 'Completed'
    }

    It 'asks nothing of the host with -WhatIf' {
        Get-WrittenError { Stop-StorageJob -Name Repair -WhatIf } | Should -BeNullOrEmpty
    }

    It 'passes over a name with wildcards that fits nothing' {
        Stop-StorageJob -Name 'Reb*' | Should -BeNullOrEmpty
    }
}
