"""Tables, figures and claims of ldsm2020, "LdSM, Logarithm-depth Streaming Multi-label Decision
Trees".
"""
