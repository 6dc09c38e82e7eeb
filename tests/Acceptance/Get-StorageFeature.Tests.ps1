BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
}

AfterAll {
    Stop-TestSession
}

Describe 'Get-StorageFeature' {
    It 'lists every feature with its state and what to use' {
        $features = Get-StorageFeature
        $features.Count | Should -BeGreaterThan 30
        $features.State | Sort-Object -Unique | Should -Be 'Here', 'In part', 'Not here'
        $features | Where-Object { -not $_.Remedy } | Should -BeNullOrEmpty
        $features | Out-String | Should -BeLike '*Name*State*Difference*'
    }

    It 'selects by names and wildcards' {
        (Get-StorageFeature ReFS).State | Should -Be 'Not here'
        (Get-StorageFeature -Name 'storage tiers', 'PARITY*').Name | Should -Be 'Storage tiers', 'Parity spaces'
        (Get-StorageFeature ReFS | Get-StorageFeature).Name | Should -Be 'ReFS'
        Get-StorageFeature 'nothing*' | Should -BeNullOrEmpty
        (Get-WrittenError { Get-StorageFeature Nothing }).FullyQualifiedErrorId | Should -Be 'CmdletizationQuery_NotFound_Name,Get-StorageFeature'
    }
}

Describe 'A cmdlet of Windows that is not here' {
    It 'is answered by its name, whatever its parameters are' {
        $answer = 'New-MaskingSet is not in this version. Masking sets are of * Use Connect-VirtualDisk*'
        { New-MaskingSet } | Should -Throw $answer -ExceptionType ([System.Management.Automation.CommandNotFoundException]) -ErrorId CommandNotFoundException*
        { new-maskingset -FriendlyName x -HostType 3 -Force -Confirm:$false } | Should -Throw $answer
        { 1, 2 | New-MaskingSet -FriendlyName x } | Should -Throw $answer
    }

    It 'is still not there for Get-Command' {
        Get-Command New-MaskingSet -ErrorAction Ignore | Should -BeNullOrEmpty
    }

    It 'does not shadow a command of that name' {
        function Get-MaskingSet { 'mine' }
        Get-MaskingSet | Should -Be 'mine'
    }

    It 'leaves other unknown names to PowerShell' {
        { Get-NothingAtAll } | Should -Throw "*'Get-NothingAtAll' is not recognized*"
    }

    It 'is answered on the command line, too' {
        $program = Join-Path (Split-Path $TestModule) 'bin/host/tierspaces'
        & $program enable-clusters2d 2>&1 | Should -BeLike 'tierspaces: Enable-ClusterS2D is not in this version. *'
        $LASTEXITCODE | Should -Be 1
    }

    It 'is no longer answered when the module is removed' {
        $shell = [powershell]::Create()
        $null = $shell.AddScript("Import-Module '$TestModule'; try { New-MaskingSet } catch { ""`$_"" }; Remove-Module TierSpaces; try { New-MaskingSet } catch { ""`$_"" }")
        $answers = $shell.Invoke()
        $shell.Dispose()
        $answers[0] | Should -BeLike 'New-MaskingSet is not in this version.*'
        $answers[1] | Should -BeLike '*is not recognized*'
    }
}
