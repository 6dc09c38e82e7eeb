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

    It 'refuses it with -WhatIf as well' {
        (Get-WrittenError { Stop-StorageJob -Name Repair -WhatIf }).FullyQualifiedErrorId | Should -Be 'StorageWMI 5,Stop-StorageJob'
    }

    It 'passes over a name with wildcards that fits nothing' {
        Stop-StorageJob -Name 'Reb*' | Should -BeNullOrEmpty
    }
}

Describe 'Stop-StorageJob of a job at work' {
    BeforeAll {
        $null = New-PhysicalDisk -Path slow1.img, slow2.img -Size 256MB -LatencyProfile HDD7200
        $null = New-StoragePool -FriendlyName Slow -StorageSubSystemFriendlyName * -PhysicalDisks (Get-PhysicalDisk slow?)
        $null = New-VirtualDisk Slow -FriendlyName Slowly -Size 64MB
        Get-PhysicalDisk slow? | Set-EmulatedDiskFault -SlowFactor 50

        # A repair that lasts until it is stopped: the job of the shell, and that of the host.
        function Start-LongRepair {
            $inShell = Repair-VirtualDisk Slowly -AsJob
            $limit = (Get-Date).AddSeconds(30)
            while (-not ($inHost = Get-StorageJob -JobState Running) -and (Get-Date) -lt $limit) { Start-Sleep -Milliseconds 50 }
            $inShell, $inHost
        }
    }

    AfterAll {
        Get-PhysicalDisk slow? | Set-EmulatedDiskFault -Clear
    }

    It 'leaves it alone with -WhatIf' {
        $inShell, $job = Start-LongRepair
        Get-WrittenError { $job | Stop-StorageJob -WhatIf } | Should -BeNullOrEmpty
        ($job | ForEach-Object { Get-StorageJob -UniqueId $_.UniqueId }).JobState | Should -Be 'Running'
        Stop-StorageJob -UniqueId $job.UniqueId
        $null = $inShell | Wait-Job
    }

    It 'ends it for good, and a cmdlet that waits for it reports that' {
        $inShell, $job = Start-LongRepair
        ($job | Stop-StorageJob -PassThru).JobState | Should -Be 'Terminated'
        (Get-StorageJob -UniqueId $job.UniqueId).JobState -eq 8 | Should -BeTrue
        $null = $inShell | Wait-Job
        $inShell.State | Should -Be 'Failed'
        $inShell.Error[0].FullyQualifiedErrorId | Should -Be 'StorageWMI 4,Repair-VirtualDisk'
    }
}
