BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
    $null = New-TestDisk 2
    $null = New-TestPool
}

AfterAll {
    Stop-TestSession
}

Describe 'Set-PhysicalDisk' {
    It 'renames by position and identifier' {
        Set-PhysicalDisk disk1 -NewFriendlyName Left
        Set-PhysicalDisk -UniqueId (Get-PhysicalDisk disk2).UniqueId -NewFriendlyName Right
        (Get-PhysicalDisk Left).FriendlyName | Should -Be 'Left'
        (Get-PhysicalDisk Right).FriendlyName | Should -Be 'Right'
    }

    It 'sets the medium before and after pooling' {
        Set-PhysicalDisk Left -MediaType HDD
        Get-PhysicalDisk Pool11 | Set-PhysicalDisk -MediaType HDD
        (Get-PhysicalDisk Left).MediaType | Should -Be 'HDD'
        (Get-PhysicalDisk Pool11).MediaType | Should -Be 'HDD'
    }

    It 'sets what the pool uses the disk for' {
        Set-PhysicalDisk Pool14 -Usage HotSpare
        (Get-PhysicalDisk Pool14).Usage | Should -Be 'Hot Spare'
        Set-PhysicalDisk Pool14 -Usage AutoSelect
        (Get-PhysicalDisk Pool14).Usage | Should -Be 'Auto-Select'
    }

    It 'refuses a name that does not exist' {
        (Get-WrittenError { Set-PhysicalDisk nothing -MediaType SSD }).FullyQualifiedErrorId | Should -Be 'CmdletizationQuery_NotFound_FriendlyName,Set-PhysicalDisk'
    }
}
