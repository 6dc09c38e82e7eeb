BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
    $null = New-TestPool
    $null = New-VirtualDisk Pool1 -FriendlyName Data -Size 64MB
}

AfterAll {
    Stop-TestSession
}

Describe 'Optimize-StoragePool' {
    It 'returns when the disks are evenly full, and nothing' {
        Optimize-StoragePool Pool1 | Should -BeNullOrEmpty
        $job = Get-StorageJob -StoragePool (Get-StoragePool Pool1) | Where-Object Name -eq Optimize | Select-Object -Last 1
        $job.JobState | Should -Be 'Completed'
        $job.PercentComplete | Should -Be 100
    }

    It 'takes pools from the pipeline and returns them with -PassThru' {
        (Get-StoragePool Pool1 | Optimize-StoragePool -PassThru).FriendlyName | Should -Be 'Pool1'
    }

    It 'binds unique identifiers and names with wildcards' {
        (Optimize-StoragePool -UniqueId (Get-StoragePool Pool1).UniqueId -PassThru).FriendlyName | Should -Be 'Pool1'
        (Optimize-StoragePool -Name 'Pool1*' -PassThru).FriendlyName | Should -Be 'Pool1'
    }

    It 'does nothing with -WhatIf' {
        $before = @(Get-StorageJob).Count
        Optimize-StoragePool Pool1 -WhatIf
        @(Get-StorageJob).Count | Should -Be $before
    }

    It 'names what is not there' {
        (Get-WrittenError { Optimize-StoragePool Nobody }).FullyQualifiedErrorId |
            Should -Be 'CmdletizationQuery_NotFound_FriendlyName,Optimize-StoragePool'
    }

    It 'refuses the primordial pool' {
        (Get-WrittenError { Optimize-StoragePool Primordial }).FullyQualifiedErrorId | Should -BeLike 'StorageWMI *,Optimize-StoragePool'
    }
}
