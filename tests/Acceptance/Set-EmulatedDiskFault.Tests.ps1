BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
    $null = New-PhysicalDisk -Path (1..3 | ForEach-Object { "flash$_.img" }) -Size 256MB -LatencyProfile NVMe
    $null = New-TestDisk 1 -Prefix plain
    $null = New-StoragePool -FriendlyName Pool -StorageSubSystemFriendlyName 'Storage Spaces*' -PhysicalDisks (Get-PhysicalDisk flash*)
}

AfterAll {
    Get-PhysicalDisk flash* | Set-EmulatedDiskFault -Clear
    Stop-TestSession
}

Describe 'Set-EmulatedDiskFault' {
    It 'takes a name by position' {
        Set-EmulatedDiskFault flash1 -SlowFactor 2
        Set-EmulatedDiskFault flash1 -Clear
    }

    It 'takes disks from the pipeline, and a unique identifier by name' {
        Get-PhysicalDisk flash1 | Set-EmulatedDiskFault -ReadErrorsPerMillion 10 -WriteErrorsPerMillion 0 -BitFlipsPerMillion 5
        Set-EmulatedDiskFault -UniqueId (Get-PhysicalDisk flash1).UniqueId -ErrorOffset 200MB -ErrorLength 4KB
        Set-EmulatedDiskFault -FriendlyName flash1
        (Get-StoragePool Pool).HealthStatus | Should -Be 'Healthy'
    }

    It 'changes nothing with -WhatIf' {
        Set-EmulatedDiskFault flash1 -Pull -WhatIf
        Start-Sleep -Seconds 1
        (Get-StoragePool Pool).HealthStatus | Should -Be 'Healthy'
    }

    It 'refuses a disk that is not emulated' {
        $failure = Get-WrittenError { Set-EmulatedDiskFault plain1 -Hang }
        $failure.FullyQualifiedErrorId | Should -Be 'StorageWMI 5,Set-EmulatedDiskFault'
        "$failure" | Should -BeLike "*plain1*not emulated*"
    }

    It 'refuses what is out of range, and -Clear beside a fault' {
        (Get-WrittenError { Set-EmulatedDiskFault flash1 -SlowFactor 0 }).FullyQualifiedErrorId | Should -Be 'StorageWMI 5,Set-EmulatedDiskFault'
        (Get-WrittenError { Set-EmulatedDiskFault flash1 -Clear -Hang }).FullyQualifiedErrorId | Should -Be 'StorageWMI 5,Set-EmulatedDiskFault'
    }

    It 'pulls a disk: the pool goes on without it' {
        Set-EmulatedDiskFault flash3 -Pull
        for ($i = 0; $i -lt 50 -and (Get-StoragePool Pool).HealthStatus -eq 'Healthy'; $i++) { Start-Sleep -Milliseconds 100 }
        (Get-StoragePool Pool).HealthStatus | Should -Be 'Warning'
        (Get-PhysicalDisk flash3).OperationalStatus | Should -Be 'Lost Communication'
    }
}
