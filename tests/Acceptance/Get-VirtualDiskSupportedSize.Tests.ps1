BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
    $null = New-TestPool
    $null = New-TestPool Small 2 128MB
}

AfterAll {
    Stop-TestSession
}

Describe 'Get-VirtualDiskSupportedSize' {
    It 'is exact: the largest size can be had, and one unit more cannot' {
        $sizes = Get-VirtualDiskSupportedSize Pool1 -ResiliencySettingName Mirror
        (Get-WrittenError { New-VirtualDisk Pool1 -FriendlyName Most -ResiliencySettingName Mirror -Size ($sizes.VirtualDiskSizeMax + $sizes.VirtualDiskSizeDivisor) }).FullyQualifiedErrorId |
            Should -Be 'StorageWMI 40000,New-VirtualDisk'
        $most = New-VirtualDisk Pool1 -FriendlyName Most -ResiliencySettingName Mirror -Size $sizes.VirtualDiskSizeMax
        $most.Size | Should -Be $sizes.VirtualDiskSizeMax
        $most | Remove-VirtualDisk -Confirm:$false
    }

    It 'takes pools from the pipeline, without a layout the default of each' {
        $sizes = Get-StoragePool -IsPrimordial $false | Get-VirtualDiskSupportedSize
        $sizes.Count | Should -Be 2
        $sizes[0].VirtualDiskSizeMax | Should -Be (Get-VirtualDiskSupportedSize Pool1 -ResiliencySettingName Mirror).VirtualDiskSizeMax
    }

    It 'prints a table, and refuses what is not there' {
        Get-VirtualDiskSupportedSize Small | Out-String -Width 200 | Should -Match 'VirtualDiskSizeMin\s+VirtualDiskSizeMax\s+VirtualDiskSizeDivisor'
        (Get-WrittenError { Get-VirtualDiskSupportedSize Nobody }).FullyQualifiedErrorId | Should -Be 'CmdletizationQuery_NotFound_FriendlyName,Get-VirtualDiskSupportedSize'
        (Get-WrittenError { Get-VirtualDiskSupportedSize Small -ResiliencySettingName Parity }).FullyQualifiedErrorId | Should -Be 'StorageWMI 48004,Get-VirtualDiskSupportedSize'
    }
}
