BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
}

AfterAll {
    Stop-TestSession
}

Describe 'New-StoragePool' {
    It 'takes the subsystem by name, wildcard and pipeline' {
        $one = New-StoragePool 'Storage Spaces*' -FriendlyName One -PhysicalDisks (New-TestDisk 2 -Prefix one)
        $two = Get-StorageSubSystem | New-StoragePool -FriendlyName Two -PhysicalDisks (New-TestDisk 2 -Prefix two)
        $three = New-StoragePool -StorageSubSystemFriendlyName 'Windows Storage*' -FriendlyName Three -PhysicalDisks (New-TestDisk 2 -Prefix three)

        $one.FriendlyName, $two.FriendlyName, $three.FriendlyName | Should -Be 'One', 'Two', 'Three'
        $one.OperationalStatus | Should -Be 'OK'
        $one.HealthStatus | Should -Be 'Healthy'
    }

    It 'accepts an abbreviated parameter' {
        (New-StoragePool -StorageSubSystemF 'Storage Spaces*' -Friendly Short -Physical (New-TestDisk 2 -Prefix short)).FriendlyName | Should -Be 'Short'
    }

    It 'changes nothing with -WhatIf' {
        New-StoragePool -FriendlyName Never -StorageSubSystemFriendlyName '*' -PhysicalDisks (New-TestDisk 1 -Prefix never) -WhatIf
        Get-StoragePool Nev* | Should -BeNullOrEmpty
    }

    It 'refuses a disk that is in a pool' {
        $taken = Get-StoragePool One | Get-PhysicalDisk

        $failure = Get-WrittenError { New-StoragePool -FriendlyName Again -StorageSubSystemFriendlyName '*' -PhysicalDisks $taken }

        $failure.FullyQualifiedErrorId | Should -Be 'StorageWMI 51002,New-StoragePool'
        "$failure" | Should -BeLike '*one1*'
        Get-StoragePool Aga* | Should -BeNullOrEmpty
    }

    It 'refuses a name that is taken' {
        $failure = Get-WrittenError { New-StoragePool -FriendlyName One -StorageSubSystemFriendlyName '*' -PhysicalDisks (New-TestDisk 1 -Prefix dup) }

        $failure.FullyQualifiedErrorId | Should -Be 'StorageWMI 5,New-StoragePool'
        "$failure" | Should -BeLike "*'One'*"
    }

    It 'refuses what is not a disk' {
        { New-StoragePool -FriendlyName X -StorageSubSystemFriendlyName '*' -PhysicalDisks 'disk1' } | Should -Throw -ErrorId 'MismatchedPSTypeName*'
    }
}
