"""Published samples with the verdicts of their own graders, beside ours."""
