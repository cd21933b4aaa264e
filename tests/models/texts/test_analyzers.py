"""Texts of scripts without blanks are learned by default, and texts with blanks have the same
features as before.
"""

import random
import warnings
from itertools import product

import pytest
from facts import warns_with
from sklearn.feature_extraction.text import HashingVectorizer, TfidfVectorizer

from xmlc import TextClassifier
from xmlc.models import PLT
from xmlc.models.texts.analyzers import TOKENS, settings_for

# Words of three classes, and words of any class.
WORDS = {
    "Chinese": (
        "手机 平板 电脑 屏幕",
        "咖啡 绿茶 牛奶 饼干",
        "衬衫 裤子 毛衣 外套",
        "新款 高级 家用 便携 超值 正品",
    ),
    "Japanese": (
        "スマホ 充電器 パソコン",
        "お茶 珈琲 ビスケット",
        "シャツ 靴下 セーター",
        "新型 高級 便利な 限定 特価",
    ),
    "Thai": (
        "โทรศัพท์ หูฟัง จอภาพ",
        "กาแฟ ชาเขียว นมสด",
        "กางเกง รองเท้า หมวก",
        "ใหม่ คุณภาพ ราคาถูก พกพา พิเศษ",
    ),
    "Khmer": ("ទូរស័ព្ទ កុំព្យូទ័រ", "កាហ្វេ ទឹកដោះគោ", "អាវ ខោ", "ថ្មី ថោក ល្អ ពិសេស"),
    "German": (
        "Telefon Rechner",
        "Kaffee Grüntee Milch",
        "Hemd Hose Jacke",
        "neu günstig tragbar original",
    ),
}


def products(languages, n=200):
    """Return names of products, each with an article number, and their classes."""
    random_state = random.Random(0)
    texts = []
    classes = []
    for i in range(n):
        language = random_state.choice(languages)
        *topics, usual = (words.split() for words in WORDS[language])
        parts = [random_state.choice(topics[i % 3]), *random_state.sample(usual, 3)]
        parts.append(f"{random_state.choice('ABC')}{random_state.randrange(1000)}")
        random_state.shuffle(parts)
        texts.append((" " if language == "German" else "").join(parts))
        classes.append([f"class {i % 3}"])
    return texts, classes


def scored(model, texts, classes):
    """Train with the first four fifths of texts, and return P@1 of the others."""
    n = len(texts) * 4 // 5
    return model.fit(texts[:n], classes[:n]).score(texts[n:], classes[n:])


@pytest.mark.parametrize(
    "languages",
    [["Chinese"], ["Japanese"], ["Thai"], ["Khmer"], ["German"], ["Chinese", "German"]],
    ids="-".join,
)
def test_default_learns_as_well_as_character_ngrams(languages):
    texts, classes = products(languages)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert scored(TextClassifier(PLT()), texts, classes) >= 0.95
    assert (
        scored(
            TextClassifier(PLT(), TfidfVectorizer(analyzer="char", ngram_range=(1, 2))),
            texts,
            classes,
        )
        >= 0.95
    )


def test_words_of_chinese_are_learned_at_chance_with_a_warning():
    texts, classes = products(["Chinese"])
    with warns_with(UserWarning, "160 of 160", "char", "--analyzer"):
        assert scored(TextClassifier(PLT(), TfidfVectorizer()), texts, classes) < 0.6


def test_codes_without_a_common_word_are_reported():
    names = [
        f"{first}_{second}_{i}"
        for (i, first), second in product(enumerate(["get", "set"]), ("user", "file", "name"))
    ] * 10
    texts = [f"{name}{i}" for i, name in enumerate(names)]
    with warns_with(UserWarning, "60 of 60"):
        TextClassifier(PLT()).fit(texts, [["a"], ["b"]] * 30)
    with warns_with(UserWarning, "60 of 60"):
        TextClassifier().partial_fit(texts, [["a"], ["b"]] * 30)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        TextClassifier(PLT()).fit(texts[:20], [["a"], ["b"]] * 10)


@pytest.mark.parametrize(
    "texts",
    [
        ["boil rice", "fry onions 12"],
        ["Grüße aus Köln", "Straße", "naïve café"],
        ["한국어 문장 하나", "또 다른 문장"],
        ["Привет мир", "Καλημέρα κόσμε", "שלום עולם"],
        ["🍕🍣", "12345", "\u200b", "\u3000"],
        ["a long English text that quotes a single Chinese character " * 3 + "茶"],
        [""],
    ],
)
def test_texts_with_blanks_keep_the_default_of_scikit_learn(texts):
    assert settings_for(texts) == {}


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("茶", ["茶"]),
        ("新款iPhone15手机", ["iphone15", "手", "新", "新 iphone15", "款", "机"]),
        ("お茶　珈琲", ["お", "茶", "珈", "琲"]),
        ("กา\u200bแฟ", ["ก", "า", "แ", "ฟ"]),
        ("snake_case と X", ["snake_case", "と"]),
        ("ｶﾞﾗｽ 12、々🍣", ["ｶ", "ﾞ", "ﾗ", "ｽ", "12", "々"]),
        ("𠮷野家", ["𠮷", "野", "家"]),
    ],
)
def test_characters_and_words_become_features(text, tokens):
    assert settings_for([text])["token_pattern"] == TOKENS
    found = TfidfVectorizer(**settings_for([text])).fit([text]).get_feature_names_out()
    assert {token for token in tokens if " " not in token} <= {*found}
    assert {word for word in found if " " not in word} >= {
        token for token in tokens if " " not in token
    }


def test_first_batch_of_a_stream_decides(tmp_path):
    texts, classes = products(["Chinese"])
    model = TextClassifier().partial_fit(texts, classes)
    assert model.vectorizer_.token_pattern == TOKENS
    assert model.partial_fit(["boil rice"], [["cooking"]]).vectorizer_.token_pattern == TOKENS
    model.save(tmp_path / "model")
    loaded = TextClassifier.load(tmp_path / "model")
    assert loaded.predict(texts) == model.predict(texts)
    assert loaded.partial_fit(texts, classes).vectorizer_.token_pattern == TOKENS
    english = TextClassifier().partial_fit(["boil rice"], [["cooking"]])
    assert english.vectorizer_.get_params() == HashingVectorizer(alternate_sign=False).get_params()


def test_analyzer_is_stored_without_a_pickle(tmp_path):
    texts, classes = products(["Japanese"], 30)
    model = TextClassifier(PLT()).fit(texts, classes)
    model.save(tmp_path / "model")
    loaded = TextClassifier.load(tmp_path / "model")
    assert loaded.predict(texts) == model.predict(texts)
    assert loaded.vectorizer_.get_params() == model.vectorizer_.get_params()


def test_given_vectorizer_wins():
    model = TextClassifier(PLT(), TfidfVectorizer(min_df=1)).fit(
        ["茶", "rice", "rose"], [["a"], ["b"], ["c"]]
    )
    assert [*model.vectorizer_.vocabulary_] == ["rice", "rose"]
