export { checkAnswers } from './check-answers.js';
export { CitationCheck } from './citation-check.js';
export { fitConversation } from './fit-conversation.js';
export { buildGroundedPrompt, fillChatTemplate, type GroundedPrompt } from './grounded-prompt.js';
export { passThrough } from './pass-through.js';
export { passageOf } from './passage.js';
