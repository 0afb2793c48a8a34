"""
Which of ten systems are as good as the best one?
=================================================

A bar beside the panel joins systems that do not differ significantly.

`compare_systems` prints the same result as letters: the row of each system shows the
letters of the systems that are significantly worse.
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
# By AP, only clicks may be as good as the text score. By NDCG@10, page visits and
# in-degree may be, too.
