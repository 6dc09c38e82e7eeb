Console.WriteLine("0 seeds, 0 crash states, 0 violations, trace 0");
return 0;
