BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
    $null = New-TestPool
    $null = New-VirtualDisk Pool1 -FriendlyName Data -Size 64MB
}

AfterAll {
    Stop-TestSession
}

Describe 'Disconnect-VirtualDisk' {
    It 'takes device and address away' {
        $uri = (Connect-VirtualDisk Data -PassThru).NbdUri
        $device = (Get-VirtualDisk Data).DevicePath

        Get-VirtualDisk Data | Disconnect-VirtualDisk

        (Get-VirtualDisk Data).NbdUri | Should -BeNullOrEmpty
        (Get-VirtualDisk Data).DevicePath | Should -BeNullOrEmpty
        $uri -replace '.*socket=' | Should -Not -Exist
        if ($device) { $device | Should -Not -Exist }
    }

    It 'has nothing to do for a virtual disk that is not connected' {
        Get-WrittenError { Disconnect-VirtualDisk Data } | Should -BeNullOrEmpty
        (Disconnect-VirtualDisk Data -PassThru).NbdUri | Should -BeNullOrEmpty
    }

    It 'refuses a name that does not exist' {
        (Get-WrittenError { Disconnect-VirtualDisk nothing }).FullyQualifiedErrorId | Should -Be 'CmdletizationQuery_NotFound_FriendlyName,Disconnect-VirtualDisk'
    }
}
