BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
    $pool = New-TestPool
    $null = New-TestPool Pool2 2
    $null = New-StorageTier Pool1 -FriendlyName Fast -MediaType SSD
    $null = New-StorageTier Pool1 -FriendlyName Slow -MediaType HDD
    $null = New-StorageTier Pool2 -FriendlyName Fast -MediaType SSD
}

AfterAll {
    Stop-TestSession
}

Describe 'Get-StorageTier' {
    It 'selects by name, identifier and medium' {
        @(Get-StorageTier Fast).Count | Should -Be 2
        (Get-StorageTier -FriendlyName S*).FriendlyName | Should -Be 'Slow'
        $slow = Get-StorageTier Slow
        (Get-StorageTier -Id $slow.UniqueId).FriendlyName | Should -Be 'Slow'
        (Get-StorageTier -MediaType HDD).FriendlyName | Should -Be 'Slow'
        Get-StorageTier Fast -MediaType HDD | Should -BeNullOrEmpty
    }

    It 'selects by pool' {
        (Get-StorageTier -StoragePool $pool).FriendlyName | Should -Be 'Fast', 'Slow'
        (Get-StoragePool Pool2 | Get-StorageTier -MediaType SSD).FriendlyName | Should -Be 'Fast'
    }

    It 'prints the table of Windows' {
        Get-StorageTier | Out-String -Width 200 |
            Should -Match 'FriendlyName\s+TierClass\s+MediaType\s+ResiliencySettingName\s+FaultDomainRedundancy\s+Size\s+FootprintOnPool\s+StorageEfficiency'
    }

    It 'does not know a tier that is not there' {
        (Get-WrittenError { Get-StorageTier Nothing }).FullyQualifiedErrorId | Should -Be 'CmdletizationQuery_NotFound_FriendlyName,Get-StorageTier'
        "$(Get-WrittenError { Get-StorageTier Nothing })" | Should -BeLike 'No MSFT_StorageTier objects found with property*'
        Get-StorageTier Noth* | Should -BeNullOrEmpty
    }
}
