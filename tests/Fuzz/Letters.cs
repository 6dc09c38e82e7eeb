namespace TierSpaces.Fuzz;

/// <summary>Sets as letters: numbers in an answer do not count.</summary>
internal static class Letters
{
    /// <summary>A letter for each bit that is set, a for bit 0.</summary>
    internal static string Of(uint bits)
    {
        string letters = "";
        for (int bit = 0; bit < 32; bit++)
        {
            letters += (bits >> bit & 1) != 0 ? (char)(bit < 26 ? 'a' + bit : 'A' + bit - 26) : "";
        }

        return letters;
    }
}
