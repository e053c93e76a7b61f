/** Beginnings of questions that a command or a step answers. */
const howTo = /^(?:and )?how (?:do|can|could|should|would|to)\b|^(?:what|which) (?:option|flag|switch)s?\b/i;
const codeWord =
  /\b(?:code|commands?|command line|snippets?|syntax|scripts?|config(?:uration)?(?: file)?|yaml|json|toml|xml|sql|regex|curl|shell|terminal|install|(?:environment )?variables?|endpoints?|(?:code|usage) examples?|example of)\b/i;
/** Names as programs have them: `--flag`, `a_b`, `a()`, `/etc/file`, text in backticks. */
const codeName = /`|(?:^|\s)--?[a-z]|\w_\w|\w\(\)|(?:^|\s)\/\w/i;

/** Whether code may answer a question: it asks for a way, for code, for a command, or about a name of a program. */
export function asksForCode(question: string): boolean {
  const asked = question.trim();
  return howTo.test(asked) || codeWord.test(asked) || codeName.test(asked);
}
