BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
    $null = New-TestPool
    $null = New-VirtualDisk Pool1 -FriendlyName Data -Size 32MB -NumberOfColumns 1
}

AfterAll {
    Stop-TestSession
}

Describe 'Test-StoragePowerCut' {
    It 'proves a layout named by position' {
        $result = Test-StoragePowerCut Simple -NumberOfColumns 1 -Size 1MB -Cuts 2 -Seed 5
        $result.PSTypeNames[0] | Should -Be 'TierSpaces.StoragePowerCut'
        $result.Cuts | Should -Be 2
        $result.CrashStates | Should -Be 8
        $result.Violations | Should -Be 0
        $result.Seed | Should -Be 5
        $result.SectorsVerified | Should -Be (8 * 2 * 2048)
    }

    It 'takes layouts of virtual disks from the pipeline, and by name' {
        $result = Get-VirtualDisk Data | Test-StoragePowerCut -Size 1MB -Cuts 1
        $result.FriendlyName | Should -Be 'Data'
        $result.ResiliencySettingName | Should -Be 'Mirror'
        $result.Violations | Should -Be 0
        (Test-StoragePowerCut -FriendlyName 'D*' -Size 1MB -Cuts 1).NumberOfDataCopies | Should -Be 2
        (Test-StoragePowerCut -UniqueId (Get-VirtualDisk Data).UniqueId -Size 1MB -Cuts 1).FriendlyName | Should -Be 'Data'
    }

    It 'prints a table' {
        Test-StoragePowerCut Simple -NumberOfColumns 1 -Size 1MB -Cuts 1 -Seed 77 | Out-String -Width 80 |
            Should -Match '(?s)FriendlyName.*Layout.*Cache.*Tiers.*Cuts.*Violations.*Seed.*ElapsedTime.*Simple.*77'
    }

    It 'reports a planted fault, as an object and as an error' {
        $failure = Get-WrittenError { $script:found = Test-StoragePowerCut Simple -NumberOfColumns 1 -Size 1MB -Cuts 4 -Seed 3 -FlushLies }
        $failure.FullyQualifiedErrorId | Should -Be 'StorageWMI 4,Test-StoragePowerCut'
        $script:found.Violations | Should -BeGreaterThan 0
        $script:found.ViolationDescriptions[0] | Should -BeLike 'seed 3, cut *'
    }

    It 'refuses what is out of range' {
        (Get-WrittenError { Test-StoragePowerCut -Cuts 0 }).FullyQualifiedErrorId | Should -Be 'StorageWMI 5,Test-StoragePowerCut'
        "$(Get-WrittenError { Test-StoragePowerCut Mirror -NumberOfColumns 9 })" | Should -BeLike '*-NumberOfColumns 9: out of range. Valid: 1 to 8*'
    }

    It 'leaves pool and disks alone' {
        (Get-StoragePool Pool1).HealthStatus | Should -Be 'Healthy'
        @(Get-VirtualDisk).Count | Should -Be 1
        @(Get-PhysicalDisk).Count | Should -Be 4
    }
}
