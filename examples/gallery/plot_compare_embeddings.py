"""
Which embedding is better?
==========================

Five ways to turn the digits into vectors, none of which sees labels, are judged by their nearest
neighbours on the same samples, over all splits. ``compare`` says which are tied for first, with
intervals that hold for all of them at once.
"""

from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.neighbors import KNeighborsClassifier
from sklearn.random_projection import GaussianRandomProjection

from allsplits import compare, evaluate

X, y = load_digits(return_X_y=True)
embeddings = {
    "pixels": X,
    "PCA 20": PCA(20, random_state=0).fit_transform(X),
    "PCA 10": PCA(10, random_state=0).fit_transform(X),
    "every other pixel": X[:, ::2],
    "random 20": GaussianRandomProjection(20, random_state=0).fit_transform(X),
}
knn = KNeighborsClassifier(5)
results = {name: evaluate(knn, vectors, y) for name, vectors in embeddings.items()}
standings = compare(*results.values(), names=results)
standings

# %%
# The picture shows each one's difference to the best of the others. Whoever is behind ends at 0.
standings.plot()

# %%
# Two by two the difference on the same samples is known far better than either score.
compare(results["PCA 20"], results["pixels"])
