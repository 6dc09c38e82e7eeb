BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
    $null = New-TestPool
    $data = New-VirtualDisk Pool1 -FriendlyName Data -Size 32MB
}

AfterAll {
    Stop-TestSession
}

Describe 'Set-VirtualDisk and Resize-VirtualDisk' {
    It 'renames by name and by pipeline' {
        Set-VirtualDisk Data -NewFriendlyName Renamed
        (Get-VirtualDisk Renamed).UniqueId | Should -Be $data.UniqueId
        Get-VirtualDisk Renamed | Set-VirtualDisk -NewFriendlyName Data
        (Get-VirtualDisk Data).UniqueId | Should -Be $data.UniqueId
    }

    It 'grows' {
        Resize-VirtualDisk Data -Size 96MB -Confirm:$false
        (Get-VirtualDisk Data).Size | Should -BeGreaterOrEqual 96MB
    }

    It 'refuses to grow beyond the pool' {
        $before = (Get-VirtualDisk Data).Size
        $failure = Get-WrittenError { Resize-VirtualDisk Data -Size 1TB -Confirm:$false }

        $failure.FullyQualifiedErrorId | Should -BeLike 'StorageWMI 4*,Resize-VirtualDisk'
        (Get-VirtualDisk Data).Size | Should -Be $before
    }

    It 'refuses a name that is taken' {
        $null = New-VirtualDisk Pool1 -FriendlyName Other -Size 32MB
        (Get-WrittenError { Set-VirtualDisk Data -NewFriendlyName Other }).FullyQualifiedErrorId | Should -Be 'StorageWMI 5,Set-VirtualDisk'
    }
}
