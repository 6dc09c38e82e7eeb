# The first session of the README, unchanged: only the folder of the images is another one.
BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession -AttachNewDisks
    $readme = Get-Content -Raw (Join-Path $PSScriptRoot '../../README.md')
    $block = [regex]::Match($readme, '(?s)```powershell\n(.*?)```').Groups[1].Value
    $session = $block.Replace('/tmp/spaces', $SessionFolder).Replace('Import-Module ./TierSpaces.psd1', '')
    $answers = & ([scriptblock]::Create($session)) *>&1
    $errors = $answers | Where-Object { $_ -is [System.Management.Automation.ErrorRecord] }
    $printed = $answers | Out-String -Width 200
}

AfterAll {
    Stop-TestSession
}

Describe 'First session of the README' {
    It 'runs without an error' {
        $errors | Should -BeNullOrEmpty
    }

    It 'answers with disks, pool and virtual disk' {
        ($answers | Where-Object { $_.PSTypeNames -like '*#MSFT_PhysicalDisk' }).Count | Should -Be 4
        ($answers | Where-Object { $_.PSTypeNames -like '*#MSFT_StoragePool' }).FriendlyName | Should -Be 'Pool1'
        ($answers | Where-Object { $_.PSTypeNames -like '*#MSFT_VirtualDisk' }).FriendlyName | Should -Contain 'Data'
    }

    It 'shows where the virtual disk is' {
        $printed | Should -Match 'NbdUri\s*: nbd\+unix:///'
    }

    It 'leaves nothing behind' {
        Get-VirtualDisk | Should -BeNullOrEmpty
        Get-StoragePool -IsPrimordial $false | Should -BeNullOrEmpty
    }
}
