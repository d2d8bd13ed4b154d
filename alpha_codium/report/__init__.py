"""One page of HTML on runs: what they scored, what the score is worth, and what is behind each sample.

1. `reading` reads the samples of a run's folder, whatever command made it; `problems` the problems they were made for.
2. `figures` are the numbers of a run, `pairing` the differences between runs, `charts` the geometry of the charts.
3. `bodies` are the long texts, a chunk for each problem, which the page unpacks when they are looked at.
4. `page` renders the template. Every text of a model, a program or a dataset is data there, never markup.
"""
