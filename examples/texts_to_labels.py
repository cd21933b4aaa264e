"""Predict the names of labels for texts.

The example needs scikit-learn.
"""

from sklearn.feature_extraction.text import TfidfVectorizer

from xmlc import PLT, TextClassifier

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

model = TextClassifier(PLT(), TfidfVectorizer(stop_words="english")).fit(TEXTS, TEXTS.values())

queries = [
    "Stew the onions in butter",
    "Where do I set bulbs of tulips?",
    "Flour, yeast, sugar",
]
for query, labels in zip(queries, model.predict(queries, 2)):
    print(query)
    for name, estimate in labels:
        print(f"    {name} {estimate:.2f}")
