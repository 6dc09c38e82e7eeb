# Friendly names with every character that a name may have, and numbers that a parameter cannot hold.
BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
    $null = New-TestPool
}

AfterAll {
    Stop-TestSession
}

Describe 'A virtual disk called <Name>' -ForEach @(
    @{ Name = "it's" }
    @{ Name = "'single'" }
    @{ Name = '"open' }
    @{ Name = 'a, b' }
    @{ Name = '[ab]' }
    @{ Name = 'back`tick' }
    @{ Name = '$HOME; & 50% #1?' }
    @{ Name = ' blanks ' }
) {
    It 'is made, connected, found, renamed and removed by that name' {
        $null = New-VirtualDisk Pool1 -FriendlyName $Name -Size 16MB
        Connect-VirtualDisk -FriendlyName $Name -WarningAction SilentlyContinue
        (Get-VirtualDisk -FriendlyName $Name).NbdUri | Should -Not -BeNullOrEmpty
        Disconnect-VirtualDisk -FriendlyName $Name
        Set-VirtualDisk -FriendlyName $Name -NewFriendlyName "2$Name"
        Remove-VirtualDisk -FriendlyName "2$Name" -Confirm:$false
        @(Get-VirtualDisk).Count | Should -Be 0
    }
}

Describe 'A friendly name' {
    It 'is refused if it cannot be seen or typed' -ForEach @(' ', "`t", "a`nb") {
        { New-VirtualDisk Pool1 -FriendlyName $_ -Size 16MB -ErrorAction Stop } | Should -Throw -ErrorId 'StorageWMI 5,New-VirtualDisk'
        { Set-StoragePool Pool1 -NewFriendlyName $_ -ErrorAction Stop } | Should -Throw -ErrorId 'StorageWMI 5,Set-StoragePool'
    }
}

Describe 'A number that its parameter cannot hold' {
    It 'is answered with parameter, value, range, advice and code' -ForEach @(
        { New-VirtualDisk Pool1 -FriendlyName Data -Size -1 }
        { New-VirtualDisk Pool1 -FriendlyName Data -Size 18446744073709551616 }
        { New-VirtualDisk Pool1 -FriendlyName Data -StorageTierSizes 1GB, -1 }
        { New-PhysicalDisk -Path $SessionFolder/none.img -Size -1 }
        { Set-StoragePool Pool1 -WriteCacheSizeDefault -1 }
    ) {
        $_ | Should -Throw '*-*Size* ''*'': is not a size. Valid: 0 to 16384 PB (18446744073709551615 bytes). Give *. `[StorageWMI 5`]*'
    }
}
