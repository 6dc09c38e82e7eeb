BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
}

AfterAll {
    Stop-TestSession
}

Describe 'Reset-PhysicalDisk' {
    It 'leaves a disk that can join a pool' {
        $null = New-TestDisk 1
        Reset-PhysicalDisk disk1 -Confirm:$false
        (Get-PhysicalDisk disk1).CanPool | Should -Be $true
    }

    It 'refuses a member of an open pool' {
        $null = New-TestPool
        $failure = Get-WrittenError { Get-PhysicalDisk Pool11 | Reset-PhysicalDisk -Confirm:$false }
        $failure.FullyQualifiedErrorId | Should -BeLike 'StorageWMI *,Reset-PhysicalDisk'
        (Get-StoragePool Pool1).HealthStatus | Should -Be 'Healthy'
    }
}
