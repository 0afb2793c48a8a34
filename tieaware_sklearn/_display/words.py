"""What the heads of tables mean, in a line each."""

from __future__ import annotations

_MEANINGS = {
    "mean": "exact mean over all orders of tied documents, averaged over queries",
    "median": "median over queries of the exact means over all orders of tied "
    "documents",
    "geometric": "geometric mean over queries of the exact means over all orders of "
    "tied documents",
    "worst": "average over queries in the least favourable order of ties",
    "best": "average over queries in the most favourable order of ties",
    "tie std": "standard deviation over the orders of tied documents",
    "chance": "the value if all documents of a query tie",
    "lift": "(mean - chance) / (ideal - chance)",
    "95% interval": "95% confidence interval of the average over queries",
    "±95%": "half of the 95% t interval of the mean over queries",
    "q": "p-value of the test against chance, adjusted for the number of features "
    "(Benjamini and Hochberg)",
    "first": "whether high or low values rank first",
    "chosen": "order in which features are selected",
    "repeats": "the selected feature for which a feature is left out, otherwise the "
    "better feature with the most similar ranking (mean of Spearman's rho)",
    "trec_eval": "value with ties broken as trec_eval does (document id, descending); "
    "- for measures that trec_eval defines differently",
    "topics": "number of topics averaged",
    "A - B": "mean of A minus mean of B",
    "tie range": "smallest and largest difference over all orders of ties",
    "holds": "whether the difference has the same sign in every order of ties",
    "p (t)": "p-value of the paired t test over queries",
    "p (wilcoxon)": "p-value of Wilcoxon's signed-rank test over queries",
    "p (randomization)": "p-value of Fisher's randomisation test over queries",
    "p (holm)": "the p-value corrected for the number of comparisons (Holm)",
    "p (bh)": "the p-value corrected for the number of comparisons (Benjamini and "
    "Hochberg)",
    "p (by)": "the p-value corrected for the number of comparisons (Benjamini and "
    "Yekutieli)",
    "p (tukey)": "p-value of Tukey's test of all pairs at once (honestly significant "
    "difference)",
    "d": "Cohen's d: mean of the differences divided by their standard deviation",
    "loses": "by how much the mean gets worse when the column is permuted",
    "±repeats": "standard deviation over the repeats",
    "imprecision": "best minus worst order of ties, as a share of the mean",
    "bits": "log2 of the distinct scores of a query",
    "tied documents": "share of documents that tie with another one of their query",
    "residual": "increase of the mean if all unjudged documents are relevant",
}


def meaning(head: str) -> str:
    """What the head of a column means; nothing for one that says so itself."""
    return _MEANINGS.get(head, "")
