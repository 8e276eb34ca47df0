"""What a command says when it cannot do what was asked: one sentence for a person, never a traceback."""


class Complaint(Exception):
    """Names what is wrong and how to mend it. Ends the command with `exit_code` (2: nothing was done)."""

    def __init__(self, sentence: str, exit_code: int = 2) -> None:
        super().__init__(sentence)
        self.exit_code = exit_code
