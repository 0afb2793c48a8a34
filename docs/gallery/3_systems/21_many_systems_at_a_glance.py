"""
Which of ten systems are as good as the best one?
=================================================

A green line beside the panel joins systems that do not differ significantly.

The printed table of `compare_systems` shows the significant differences by letters.
Each system has a letter. In the row of a system, the column `>` contains the letters of
the systems that are significantly worse.
"""

from tieaware_sklearn import compare_systems
from tieaware_sklearn.datasets import make_web_search
from tieaware_sklearn.plots import SystemComparisonDisplay

web = make_web_search(n_queries=100, as_frame=True, random_state=0)
systems = web.data.drop(columns=web.data.filter(regex="log_").columns)
comparison = compare_systems(
    web.target, systems, qid=web.qid, measure=["ap", "ndcg@10"]
)
SystemComparisonDisplay.from_result(comparison)
print(comparison)

# %%
# By both measures, `text_score` has the highest mean. By AP, only `clicks` is not
# significantly worse than `text_score`. By NDCG@10, `clicks`, `page_visits` and
# `in_degree` are not significantly worse than `text_score`.
