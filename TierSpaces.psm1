# The module is its assembly: everything it needs is in bin/, which ./build.sh Build fills.
$assembly = Join-Path $PSScriptRoot 'bin/TierSpaces.Cmdlets.dll'
if (-not (Test-Path -LiteralPath $assembly)) {
    throw "TierSpaces is not built: there is no $assembly. Run $(Join-Path $PSScriptRoot 'build.sh') Build."
}

Import-Module $assembly
