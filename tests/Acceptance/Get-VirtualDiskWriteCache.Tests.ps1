BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
    $null = New-TestPool
    $null = New-VirtualDisk Pool1 -FriendlyName Data -Size 32MB -WriteCacheSize 8MB
    $null = New-VirtualDisk Pool1 -FriendlyName Plain -Size 32MB
}

AfterAll {
    Stop-TestSession
}

Describe 'Get-VirtualDiskWriteCache' {
    It 'lists every virtual disk, or those it is given by name, position and pipeline' {
        (Get-VirtualDiskWriteCache).FriendlyName | Sort-Object | Should -Be 'Data', 'Plain'
        (Get-VirtualDiskWriteCache Data).FriendlyName | Should -Be 'Data'
        (Get-VirtualDiskWriteCache -FriendlyName 'D*').FriendlyName | Should -Be 'Data'
        (Get-VirtualDiskWriteCache -UniqueId (Get-VirtualDisk Data).UniqueId).FriendlyName | Should -Be 'Data'
        (Get-VirtualDisk Plain | Get-VirtualDiskWriteCache).FriendlyName | Should -Be 'Plain'
        (Get-VirtualDiskWriteCache -InputObject (Get-VirtualDisk)).Count | Should -Be 2
    }

    It 'tells size, state and settings' {
        $cache = Get-VirtualDiskWriteCache Data
        $cache.PSTypeNames[0] | Should -Be 'TierSpaces.VirtualDiskWriteCache'
        $cache.Size | Should -Be 8MB
        $cache.State | Should -Be 'Active'
        $cache.DestageStart, $cache.DestageStop, $cache.DestageIdle | Should -Be 25, 10, 2
        $cache.DestageHold | Should -BeFalse
        (Get-VirtualDiskWriteCache Plain).State | Should -Be 'None'
        (Get-VirtualDiskWriteCache Plain).Size | Should -Be 0
    }

    It 'shows what Set-VirtualDisk has set' {
        Set-VirtualDisk Data -DestageStart 40 -DestageStop 5 -DestageIdle 60 -DestageBytesPerSecond 10MB -DestageHold $true -DestageHoldUntil 03:30
        $cache = Get-VirtualDiskWriteCache Data
        $cache.DestageStart, $cache.DestageStop, $cache.DestageIdle, $cache.DestageBytesPerSecond | Should -Be 40, 5, 60, 10MB
        $cache.DestageHold | Should -BeTrue
        $cache.DestageHoldUntil | Should -Be '03:30'
        $failure = Get-WrittenError { Set-VirtualDisk Data -DestageStop 40 }
        $failure.FullyQualifiedErrorId | Should -Be 'StorageWMI 5,Set-VirtualDisk'
        (Get-VirtualDiskWriteCache Data).DestageStop | Should -Be 5
        Set-VirtualDisk Data -DestageHold $false -WhatIf
        (Get-VirtualDiskWriteCache Data).DestageHold | Should -BeTrue
    }

    It 'shows another size, and what a client writes meanwhile' {
        Set-VirtualDisk Data -WriteCacheSize 5MB -NewFriendlyName Smaller
        (Get-VirtualDisk Smaller).WriteCacheSize | Should -Be 5MB
        Set-VirtualDisk Smaller -WriteCacheSize 8MB -NewFriendlyName Data
        (Get-WrittenError { Set-VirtualDisk Data -WriteCacheSize 1TB }).FullyQualifiedErrorId | Should -Be 'StorageWMI 50005,Set-VirtualDisk'
        (Get-VirtualDiskWriteCache Data).Size | Should -Be 8MB
        Set-VirtualDisk Plain -WriteCacheSize 2MB -WhatIf
        (Get-VirtualDiskWriteCache Plain).State | Should -Be 'None'
    }

    It 'prints a table' {
        $table = Get-VirtualDiskWriteCache | Out-String
        $table | Should -Match 'FriendlyName\s+State\s+Size\s+DirtyBytes'
        $table | Should -Match 'Data.*8 MB'
    }

    It 'does not know a virtual disk that is not there' {
        (Get-WrittenError { Get-VirtualDiskWriteCache Nobody }).FullyQualifiedErrorId | Should -BeLike 'CmdletizationQuery_NotFound_FriendlyName,Get-VirtualDiskWriteCache'
    }
}
