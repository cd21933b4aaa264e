"""From texts to the names of their labels, by TF-IDF and a label tree.

Needs scikit-learn.
"""

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import MultiLabelBinarizer

from xmlc.models import PLT

TEXTS = {
    "Simmer the tomatoes with garlic and basil": ["cooking", "vegetables"],
    "Fry the onions in butter, add the rice and stir": ["cooking", "vegetables"],
    "Roast the carrots with honey and thyme": ["cooking", "vegetables"],
    "Whisk the eggs with sugar, then fold in the flour": ["baking", "cooking"],
    "Knead the flour with water and yeast": ["baking", "cooking"],
    "Bake the cake for forty minutes and let it cool": ["baking", "cooking"],
    "Sow the carrots in rows once the soil is warm": ["gardening", "vegetables"],
    "Water the tomatoes in the morning": ["gardening", "vegetables"],
    "Plant the onions in March, in loose soil": ["gardening", "vegetables"],
    "Prune the roses in spring, above a bud": ["flowers", "gardening"],
    "Tulips flower in spring if the bulbs are set in autumn": ["flowers", "gardening"],
    "Cut the lavender after it has flowered": ["flowers", "gardening"],
}

vectorizer = TfidfVectorizer(stop_words="english")
names = MultiLabelBinarizer(sparse_output=True)
X = vectorizer.fit_transform(TEXTS)
Y = names.fit_transform(TEXTS.values())
model = PLT().fit(X, Y)

queries = [
    "Stew the onions in butter",
    "Where do I set bulbs of tulips?",
    "Flour, yeast, sugar",
]
labels, scores = model.predict_top_k(vectorizer.transform(queries), 2)
for query, row, estimates in zip(queries, labels, scores):
    print(query)
    for label, estimate in zip(row, estimates):
        if label >= 0:  # where the model knows fewer labels, the row ends with -1
            print(f"    {names.classes_[label]} {estimate:.2f}")
