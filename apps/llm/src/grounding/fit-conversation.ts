import type { ChatMessage } from '#contracts';

/**
 * Drops the oldest earlier turns until the prompt fits: with a turn go the answers to it. System turns and the last
 * user turn with what follows stay, even when they alone are too long (the model then refuses them). `countTokens` tells
 * the tokens of the prompt that the turns become.
 */
export async function fitConversation(
  messages: readonly ChatMessage[],
  maxTokens: number,
  countTokens: (messages: readonly ChatMessage[]) => Promise<number>,
): Promise<ChatMessage[]> {
  let kept = [...messages];
  for (;;) {
    const shorter = withoutOldestExchange(kept);
    if (!shorter || (await countTokens(kept)) <= maxTokens) return kept;
    kept = shorter;
  }
}

/** Without the first turn that is no system turn, up to the next user turn; undefined when only the question is left. */
function withoutOldestExchange(messages: readonly ChatMessage[]): ChatMessage[] | undefined {
  const question = messages.findLastIndex(({ role }) => role === 'user');
  const first = messages.findIndex(({ role }) => role !== 'system');
  if (first === -1 || first >= question) return undefined;
  const next = messages.findIndex(({ role }, index) => index > first && role === 'user');
  return messages.filter(({ role }, index) => index < first || index >= next || role === 'system');
}
