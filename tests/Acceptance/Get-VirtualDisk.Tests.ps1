BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
    $pool = New-TestPool
    $data = New-VirtualDisk Pool1 -FriendlyName Data -Size 32MB
    $other = New-VirtualDisk Pool1 -FriendlyName Other -Size 32MB -ResiliencySettingName Simple
}

AfterAll {
    Stop-TestSession
}

Describe 'Get-VirtualDisk' {
    It 'selects by name, list, wildcard, identifier and pool' {
        (Get-VirtualDisk Data).UniqueId | Should -Be $data.UniqueId
        (Get-VirtualDisk Data, Other).Count | Should -Be 2
        (Get-VirtualDisk D*).FriendlyName | Should -Be 'Data'
        (Get-VirtualDisk -Id $other.UniqueId).FriendlyName | Should -Be 'Other'
        ($pool | Get-VirtualDisk).Count | Should -Be 2
        (Get-PhysicalDisk Pool11 | Get-VirtualDisk).FriendlyName | Should -Contain 'Data'
    }

    It 'says where it is only while it is connected' {
        (Get-VirtualDisk Data).NbdUri | Should -BeNullOrEmpty
        (Get-VirtualDisk Data).DevicePath | Should -BeNullOrEmpty
    }

    It 'prints the columns of Windows' {
        $lines = (Get-VirtualDisk Data | Out-String -Width 200).Trim() -split '\r?\n'
        $lines[0] -split '\s+' | Should -Be 'FriendlyName', 'ResiliencySettingName', 'FaultDomainRedundancy', 'OperationalStatus', 'HealthStatus', 'Size', 'FootprintOnPool', 'StorageEfficiency'
        $lines[2] | Should -Match '^Data\s+Mirror\s+1\s+\S+\s+Healthy\s+\S+ MB\s+\S+ MB\s+\d\d\.\d\d%$'
    }

    It 'shows the efficiency of a thin disk as that of what it takes' {
        $null = New-VirtualDisk Pool1 -FriendlyName Thin -Size 10GB -ProvisioningType Thin -WarningAction Ignore
        $line = (Get-VirtualDisk Thin | Out-String -Width 200).Trim() -split '\r?\n' | Select-Object -Last 1
        $line | Should -Match '^Thin\s.*\s10 GB\s.*\s\d\d?\.\d\d%$'
        Remove-VirtualDisk Thin -Confirm:$false
    }

    It 'filters as scripts do' {
        (Get-VirtualDisk | Where-Object ResiliencySettingName -EQ Simple).FriendlyName | Should -Be 'Other'
        (Get-VirtualDisk | Sort-Object Size | Select-Object -First 1).Size | Should -BeOfType [uint64]
    }

    It 'refuses each name that does not exist and returns the others' {
        $answer = Get-VirtualDisk Data, nothing -ErrorAction SilentlyContinue -ErrorVariable failures

        $answer.FriendlyName | Should -Be 'Data'
        $failures[0].FullyQualifiedErrorId | Should -Be 'CmdletizationQuery_NotFound_FriendlyName,Get-VirtualDisk'
    }
}
