"""Provide two tables to compare."""

TABLE = """\
dataset,model,method,macro_f,test_ms,inner_products,c
yeast,plt,fta,40.0,0.25,55.0,10
yeast,plt,sto,35.123456,0.5,60.0,100
"""
# The table `TABLE` with two changed cells, a changed cost and a missing cell.
MIXED = """\
dataset,model,method,macro_f,test_ms,inner_products,c
yeast,plt,fta,40.1,0.5,55.0,10
yeast,plt,sto,36.0,0.5,,100
"""


def change(text, old, new):
    assert text.count(old) == 1, old
    return text.replace(old, new)
