"""Texts of scripts without blanks are learned by default, and texts with blanks have the same
features as before.
"""

import random
import warnings

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
    "Thai": (
        "โทรศัพท์ หูฟัง จอภาพ",
        "กาแฟ ชาเขียว นมสด",
        "กางเกง รองเท้า หมวก",
        "ใหม่ คุณภาพ ราคาถูก พกพา พิเศษ",
    ),
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
    for i in range(n):
        language = random_state.choice(languages)
        *topics, usual = (words.split() for words in WORDS[language])
        parts = [random_state.choice(topics[i % 3]), *random_state.sample(usual, 3)]
        parts.append(f"A{random_state.randrange(1000)}")
        random_state.shuffle(parts)
        texts.append((" " if language == "German" else "").join(parts))
    return texts, [[f"class {i % 3}"] for i in range(n)]


@pytest.mark.parametrize(
    "languages", [["Chinese"], ["Thai"], ["German"], ["Chinese", "German"]], ids="-".join
)
def test_default_learns_most_classes_without_a_warning(languages):
    texts, classes = products(languages)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = TextClassifier(PLT()).fit(texts[:160], classes[:160])
    assert model.score(texts[160:], classes[160:]) >= 0.95


def test_texts_without_a_common_word_are_reported():
    texts = [f"get_name_{i}" for i in range(60)]
    classes = [["a"], ["b"]] * 30
    with warns_with(UserWarning, "60 of 60", "char", "--analyzer"):
        TextClassifier(PLT()).fit(texts, classes)
    with warns_with(UserWarning, "60 of 60"):
        TextClassifier().partial_fit(texts, classes)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        TextClassifier(PLT()).fit(texts[:20], classes[:20])


def test_texts_without_a_known_word_are_reported():
    model = TextClassifier(PLT()).fit(["boil rice", "prune roses"], [["a"], ["b"]])
    for texts, said in ((["sel"], "1 of 1"), (["sel", "riz", "rice"], "2 of 3")):
        for method in (model.predict, model.predict_sets, model.predict_proba):
            with warns_with(UserWarning, said):
                method(texts)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(["sel", "rice"])
        model.predict([])


@pytest.mark.parametrize(
    "texts",
    [
        ["Grüße aus Köln", "Straße", "naïve café"],
        ["한국어 문장 하나", "또 다른 문장"],
        ["Привет мир", "Καλημέρα κόσμε", "שלום עולם"],
        ["🍕🍣", "12345", "\u200b", "\u3000", ""],
        ["a long English text that quotes a single Chinese character " * 3 + "茶"],
    ],
)
def test_texts_with_blanks_keep_the_default_of_scikit_learn(texts):
    assert settings_for(texts) == {}


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("新款iPhone15手机", ["iphone15", "手", "新", "款", "机"]),
        ("お茶　珈琲", ["お", "茶", "珈", "琲"]),
        ("กา\u200bแฟ", ["ก", "า", "แ", "ฟ"]),
        ("ថោក", ["ថ", "ោ", "ក"]),
        ("snake_case と X", ["snake_case", "と"]),
        ("ｶﾞﾗｽ 12、々🍣", ["ｶ", "ﾞ", "ﾗ", "ｽ", "12", "々"]),
        ("𠮷野家", ["𠮷", "野", "家"]),
    ],
)
def test_characters_words_and_pairs_become_features(text, tokens):
    names = TfidfVectorizer(**settings_for([text])).fit([text]).get_feature_names_out()
    assert {name for name in names if " " not in name} == set(tokens)
    assert any(" " in name for name in names)


def test_first_batch_of_a_stream_decides(tmp_path):
    texts, classes = products(["Chinese"])
    model = TextClassifier().partial_fit(texts, classes)
    assert model.partial_fit(["boil rice"], [["cooking"]]).vectorizer_.token_pattern == TOKENS
    model.save(tmp_path / "model")
    loaded = TextClassifier.load(tmp_path / "model")
    assert loaded.vectorizer_.get_params() == model.vectorizer_.get_params()
    assert loaded.predict(texts) == model.predict(texts)
    assert loaded.partial_fit(texts, classes).vectorizer_.token_pattern == TOKENS
    english = TextClassifier().partial_fit(["boil rice"], [["cooking"]])
    assert english.vectorizer_.get_params() == HashingVectorizer(alternate_sign=False).get_params()


def test_given_vectorizer_wins():
    texts = ["茶", "rice", "rose"]
    model = TextClassifier(PLT(), TfidfVectorizer(min_df=1)).fit(texts, [["a"], ["b"], ["c"]])
    assert [*model.vectorizer_.vocabulary_] == ["rice", "rose"]
