# The package, installed where nothing of the repository is near, and used from another shell by the name of the module alone.
BeforeDiscovery {
    $isThere = $env:TIERSPACES_TEST_PACKAGE -or (Test-Path "$PSScriptRoot/../../bin/package/*.nupkg")
    if (-not $isThere) {
        Write-Host 'The package is not tested: ./build.sh Package makes one.'
    }
}

BeforeAll {
    $package = $env:TIERSPACES_TEST_PACKAGE ?? (Get-Item "$PSScriptRoot/../../bin/package/*.nupkg" -ErrorAction Ignore)
    $folder = Join-Path ([IO.Path]::GetTempPath()) "pk$PID"
    $modules = Join-Path $folder modules
    if ($package) {
        $module = & "$PSScriptRoot/../../eng/unpack.ps1" -Package $package -To $modules
    }

    # Runs commands in a shell that knows the installed module only, and returns what they printed.
    function Invoke-Elsewhere([string] $Commands) {
        $saved = $env:PSModulePath, $env:TIERSPACES_HOME
        $env:PSModulePath, $env:TIERSPACES_HOME = $modules, (Join-Path $folder home)
        Push-Location $folder
        try {
            pwsh -NoProfile -NonInteractive -Command "`$ErrorActionPreference = 'Stop'; `$ProgressPreference = 'SilentlyContinue'; $Commands" 2>&1
        }
        finally {
            Pop-Location
            $env:PSModulePath, $env:TIERSPACES_HOME = $saved
        }
    }
}

AfterAll {
    if ($package) {
        $null = Invoke-Elsewhere 'try { Get-VirtualDisk | Disconnect-VirtualDisk; Stop-TierSpacesHost } catch { }'   # a device outlives its host
        Remove-Item -Recurse -Force $folder
    }
}

Describe 'The package' -Skip:(-not $isThere) {
    It 'is loaded by its script as well' {
        Invoke-Elsewhere "Import-Module '$module/TierSpaces.psm1'; (Get-Command -Module TierSpaces -CommandType Cmdlet).Count" |
            Should -Be (Import-PowerShellDataFile "$module/TierSpaces.psd1").CmdletsToExport.Count
    }

    It 'says to a repository what it is' {
        $zip = [IO.Compression.ZipFile]::OpenRead("$package")
        $reader = [IO.StreamReader]::new(($zip.Entries | Where-Object FullName -Like '*.nuspec').Open())
        $metadata = ([xml] $reader.ReadToEnd()).package.metadata
        $reader.Dispose()
        $zip.Dispose()
        $manifest = Import-PowerShellDataFile "$PSScriptRoot/../../TierSpaces.psd1"
        $metadata.id, $metadata.version | Should -Be 'TierSpaces', $manifest.ModuleVersion
        $metadata.tags -split ' ' | Should -Contain 'PSModule'
        $metadata.dependencies.ChildNodes.ChildNodes | Should -BeNullOrEmpty
    }

    It 'is found by name, and starts the host it brings along' {
        $answer = Invoke-Elsewhere "
            `$null = New-PhysicalDisk -Path (1..4 | ForEach-Object { ""disk`$_.img"" }) -Size 256MB
            `$null = New-StoragePool -FriendlyName Pool1 -StorageSubSystemFriendlyName 'Storage Spaces*' -PhysicalDisks (Get-PhysicalDisk -CanPool `$true)
            `$null = New-VirtualDisk Pool1 -FriendlyName Data -Size 32MB
            (Get-VirtualDisk Data).ResiliencySettingName
            (Get-Module TierSpaces).ModuleBase
            (Get-Process -Id (Get-TierSpacesHost).ProcessId).Path"
        $answer | Should -Be 'Mirror', $module, (Join-Path $module bin/host/tierspaces)
    }

    It 'brings its help along' {
        Invoke-Elsewhere '(Get-Help New-VirtualDisk).Synopsis' | Should -Be 'Creates a virtual disk in a storage pool.'
    }
}
