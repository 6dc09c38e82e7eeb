BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
    $pool = New-TestPool
}

AfterAll {
    Stop-TestSession
}

Describe 'Set-StorageTierSchedule' {
    It 'refuses to set nothing' {
        (Get-WrittenError { Set-StorageTierSchedule Pool1 }).FullyQualifiedErrorId | Should -Be 'StorageWMI 5,Set-StorageTierSchedule'
    }

    It 'sets times and switches off, each by itself' {
        (Set-StorageTierSchedule Pool1 -Time 22:00, 4:30 -PassThru -Confirm:$false).Time | Should -Be '04:30', '22:00'
        Set-StorageTierSchedule -StoragePoolUniqueId $pool.UniqueId -Enabled $false | Should -BeNullOrEmpty
        $schedule = Get-StorageTierSchedule Pool1
        $schedule.Enabled | Should -BeFalse
        $schedule.Time | Should -Be '04:30', '22:00'
        $pool | Set-StorageTierSchedule -Enabled $true -Time 01:00
        (Set-StorageTierSchedule -InputObject $pool -Enabled $true -PassThru).Time | Should -Be '01:00'
    }

    It 'sets the continuous mode and its reserve, and takes schedules from the pipeline' {
        Get-StorageTierSchedule | Set-StorageTierSchedule -Continuous $true -FreeReservePercent 20
        $schedule = Get-StorageTierSchedule Pool1
        $schedule.Continuous | Should -BeTrue
        $schedule.FreeReservePercent | Should -Be 20
        $schedule.Time | Should -Be '01:00'
        (Set-StorageTierSchedule Pool1 -Continuous $false -PassThru).Continuous | Should -BeFalse
    }

    It 'sets the limits of runs' {
        $schedule = Set-StorageTierSchedule Pool1 -MaximumBytes 100GB -LatencyTarget 15 -PassThru
        $schedule.MaximumBytes, $schedule.LatencyTarget | Should -Be 100GB, 15
        (Set-StorageTierSchedule Pool1 -MaximumBytes 0 -PassThru).LatencyTarget | Should -Be 15
        (Get-WrittenError { Set-StorageTierSchedule Pool1 -MaximumBytes 1MB }).FullyQualifiedErrorId | Should -Be 'StorageWMI 5,Set-StorageTierSchedule'
    }

    It 'does nothing with -WhatIf, and refuses what is no time and no reserve' {
        Set-StorageTierSchedule Pool1 -Time 02:00 -WhatIf
        foreach ($time in '24:00', 'noon', '1:0') {
            (Get-WrittenError { Set-StorageTierSchedule Pool1 -Time $time }).FullyQualifiedErrorId | Should -Be 'StorageWMI 5,Set-StorageTierSchedule'
        }

        (Get-WrittenError { Set-StorageTierSchedule Pool1 -FreeReservePercent 51 }).FullyQualifiedErrorId | Should -Be 'StorageWMI 5,Set-StorageTierSchedule'
        (Get-StorageTierSchedule Pool1).Time | Should -Be '01:00'
    }
}
