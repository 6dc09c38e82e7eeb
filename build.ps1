<#
.SYNOPSIS
The tasks of this repository, for people in PowerShell: ./build.ps1 -Task Test is ./build.sh Test.
.PARAMETER Task
Build, Package, Test, Demo, Bench, Experiment, Simulate, PowerCut, Fuzz, Mutate or Clean.
.PARAMETER Options
What the task takes besides, as in ./build.ps1 Test -Long or ./build.ps1 Experiment -Name write-back-cache.
#>
[CmdletBinding(PositionalBinding = $false)]
param(
    [Parameter(Position = 0)]
    [ValidateSet('Build', 'Package', 'Test', 'Demo', 'Bench', 'Experiment', 'Simulate', 'PowerCut', 'Fuzz', 'Mutate', 'Clean')]
    [string] $Task = 'Build',

    [Parameter(ValueFromRemainingArguments)]
    [string[]] $Options = @()
)

& bash "$PSScriptRoot/build.sh" $Task @Options
exit $LASTEXITCODE
