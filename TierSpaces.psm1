# The module for those who load this file by name: the manifest beside it, whose root is the assembly in bin/. Importing the manifest itself,
# as Import-Module TierSpaces does, goes without this script, which alone takes as long as all the rest of an import.
$assembly = Join-Path $PSScriptRoot 'bin/TierSpaces.Cmdlets.dll'
if (-not (Test-Path -LiteralPath $assembly)) {
    throw "TierSpaces is not built: there is no $assembly. Run $(Join-Path $PSScriptRoot 'build.sh') Build."
}

Import-Module (Join-Path $PSScriptRoot 'TierSpaces.psd1') -Scope Local
Export-ModuleMember -Cmdlet * -Alias *
