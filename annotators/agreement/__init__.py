"""Agreement: coefficients as functions of sums that add over traces, and their intervals. Only numpy is used."""
