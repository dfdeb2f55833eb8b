class Read:
    def __init__(self, texts):
        self.texts = texts

    def holds(self, q):
        return any(q in t for t in self.texts)


def cleaned(text, read):
    return text, []


def numbers_lacking(point, sentences):
    return []
