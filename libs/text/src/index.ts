export { chatTaskOf, type ChatTask, type ChatTaskKind } from './chat-task.js';
export { condenseQuestion, contentWords, questionWithNames } from './condense-question.js';
export { escapePattern } from './escape-pattern.js';
export { estimateTokens } from './estimate-tokens.js';
export { splitSentences, countWords, firstWords } from './sentences.js';
export { ragPromptOf, withBareQuestions, type RagPrompt } from './rag-prompt.js';
export { smallTalkTopic, type SmallTalkTopic } from './small-talk-topic.js';
export { asksForSummary, hasWord } from './summary-question.js';
export { remember } from './remember.js';
