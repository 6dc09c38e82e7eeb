BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
    $pool = New-TestPool
    $null = 'One', 'Two', 'Three', 'Four' | ForEach-Object { New-StorageTier Pool1 -FriendlyName $_ -MediaType SSD }
}

AfterAll {
    Stop-TestSession
}

Describe 'Remove-StorageTier' {
    It 'does nothing with -WhatIf' {
        Remove-StorageTier * -WhatIf
        @(Get-StorageTier).Count | Should -Be 4
    }

    It 'removes by name, identifier and from the pipeline' {
        (Remove-StorageTier One -PassThru -Confirm:$false).FriendlyName | Should -Be 'One'
        Remove-StorageTier -UniqueId (Get-StorageTier Two).UniqueId -Confirm:$false
        Get-StorageTier Three | Remove-StorageTier -Confirm:$false
        Remove-StorageTier -InputObject (Get-StorageTier Four) -Confirm:$false
        Get-StorageTier | Should -BeNullOrEmpty
    }

    It 'does not know a tier that is not there' {
        (Get-WrittenError { Remove-StorageTier One -Confirm:$false }).FullyQualifiedErrorId | Should -Be 'CmdletizationQuery_NotFound_FriendlyName,Remove-StorageTier'
    }
}
