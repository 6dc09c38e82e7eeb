BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
    $null = New-TestDisk 4
    $null = New-TestPool
}

AfterAll {
    Stop-TestSession
}

Describe 'Unregister-PhysicalDisk' {
    It 'forgets disks by name, identifier, path and from the pipeline, and leaves their files' {
        Unregister-PhysicalDisk disk1
        Unregister-PhysicalDisk -UniqueId (Get-PhysicalDisk disk2).UniqueId
        Unregister-PhysicalDisk -Path disk3.img
        Get-PhysicalDisk disk4 | Unregister-PhysicalDisk
        Get-PhysicalDisk 'disk*' | Should -BeNullOrEmpty
        (Get-Item disk?.img).Count | Should -Be 4
    }

    It 'goes on after a disk that it refuses' {
        $null = Register-PhysicalDisk disk1.img
        $failure = Get-WrittenError { Unregister-PhysicalDisk Pool11, disk1 }
        $failure.FullyQualifiedErrorId | Should -Be 'StorageWMI 51002,Unregister-PhysicalDisk'
        Get-PhysicalDisk 'disk*' | Should -BeNullOrEmpty
    }

    It 'names a path that no disk has' {
        (Get-WrittenError { Unregister-PhysicalDisk -Path nowhere.img }).FullyQualifiedErrorId | Should -Be 'CmdletizationQuery_NotFound_Path,Unregister-PhysicalDisk'
    }
}
