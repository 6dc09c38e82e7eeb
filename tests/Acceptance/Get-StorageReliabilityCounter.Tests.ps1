BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
    $null = New-TestPool
    $null = New-VirtualDisk Pool1 -FriendlyName Data -Size 32MB
}

AfterAll {
    Stop-TestSession
}

Describe 'Get-StorageReliabilityCounter and Reset-StorageReliabilityCounter' {
    It 'gives the counters of disks from the pipeline, with the documented type name and default table' {
        $counters = Get-PhysicalDisk | Get-StorageReliabilityCounter
        $counters.Count | Should -Be 4
        $counters[0].PSTypeNames[0] | Should -BeLike '*#ROOT/Microsoft/Windows/Storage/MSFT_StorageReliabilityCounter'
        ($counters | Out-String -Width 200) -split "`n" | Where-Object { $_ -match 'DeviceId' } |
            Should -Match '^DeviceId\s+Temperature\s+ReadErrorsUncorrected\s+Wear\s+PowerOnHours'
    }

    It 'counts no errors on sound disks, and knows nothing of the temperature of a file' {
        $counter = Get-StorageReliabilityCounter -PhysicalDisk (Get-PhysicalDisk | Select-Object -First 1)
        $counter.ReadErrorsTotal | Should -Be 0
        $counter.WriteErrorsTotal | Should -Be 0
        $counter.Temperature | Should -BeNullOrEmpty
        $counter.DeviceId | Should -Be (Get-PhysicalDisk | Select-Object -First 1).DeviceId
    }

    It 'resets a disk, or counters from the pipeline' {
        Reset-StorageReliabilityCounter -PhysicalDisk (Get-PhysicalDisk | Select-Object -First 1) | Should -BeNullOrEmpty
        $reset = Get-PhysicalDisk | Select-Object -First 1 | Get-StorageReliabilityCounter | Reset-StorageReliabilityCounter -PassThru
        $reset.ReadErrorsTotal | Should -Be 0
        Reset-StorageReliabilityCounter -PhysicalDisk (Get-PhysicalDisk | Select-Object -First 1) -WhatIf
    }

    It 'refuses what is no physical disk' {
        { Get-StorageReliabilityCounter -PhysicalDisk (Get-StoragePool Pool1) } | Should -Throw -ErrorId 'MismatchedPSTypeName,*'
    }
}
