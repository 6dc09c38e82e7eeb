BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
    $null = New-TestPool
    $null = New-VirtualDisk Pool1 -FriendlyName Data -Size 32MB
    $null = New-VirtualDisk Pool1 -FriendlyName Other -Size 32MB
}

AfterAll {
    Stop-TestSession
}

Describe 'Repair-VirtualDisk' {
    It 'returns when the repair is done, and nothing' {
        Repair-VirtualDisk Data | Should -BeNullOrEmpty
        $job = Get-StorageJob -VirtualDisk (Get-VirtualDisk Data) | Select-Object -Last 1
        $job.Name | Should -Be 'Repair'
        $job.JobState | Should -Be 'Completed'
        $job.PercentComplete | Should -Be 100
    }

    It 'takes virtual disks from the pipeline and returns them with -PassThru' {
        (Get-VirtualDisk | Repair-VirtualDisk -PassThru).FriendlyName | Sort-Object | Should -Be 'Data', 'Other'
    }

    It 'binds unique identifiers and names with wildcards' {
        (Repair-VirtualDisk -UniqueId (Get-VirtualDisk Data).UniqueId -PassThru).FriendlyName | Should -Be 'Data'
        (Repair-VirtualDisk -Name 'O*' -PassThru).FriendlyName | Should -Be 'Other'
    }

    It 'gives nothing up with -Force where no block is in doubt' {
        Repair-VirtualDisk Data -Force -WarningVariable told -WarningAction SilentlyContinue | Should -BeNullOrEmpty
        $told | Should -BeNullOrEmpty
        (Get-VirtualDisk Data).HealthStatus | Should -Be 'Healthy'
    }

    It 'runs as a job of the shell with -AsJob' {
        $job = Repair-VirtualDisk Data -AsJob
        $job | Should -BeOfType ([System.Management.Automation.Job])
        $job | Wait-Job -Timeout 60 | Receive-Job | Should -BeNullOrEmpty
        $job.State | Should -Be 'Completed'
        $job | Remove-Job
    }

    It 'does nothing with -WhatIf' {
        $before = @(Get-StorageJob).Count
        Repair-VirtualDisk Data -WhatIf
        @(Get-StorageJob).Count | Should -Be $before
    }

    It 'names what is not there' {
        (Get-WrittenError { Repair-VirtualDisk Nobody }).FullyQualifiedErrorId |
            Should -Be 'CmdletizationQuery_NotFound_FriendlyName,Repair-VirtualDisk'
    }
}
