/** What a message is about that is not a question about documents. */
export type SmallTalkTopic =
  | 'greeting'
  | 'thanks'
  | 'farewell'
  | 'well-being'
  | 'identity'
  | 'ability'
  | 'offer'
  | 'assent'
  | 'complaint'
  | 'withdrawal';

const name = String.raw`(?:\s+(?:there|all|everyone|everybody|again|assistant|bot|meganest|nano-chat|friend|mate|sir|madam))*`;
/** Patterns for whole messages, without punctuation and `please`. */
const topics: readonly [SmallTalkTopic, RegExp][] = [
  [
    'greeting',
    new RegExp(
      `^(?:hi|hello|hey|hiya|howdy|yo|greetings|good (?:morning|afternoon|evening|day)|hallo|guten (?:tag|morgen|abend))${name}$`,
    ),
  ],
  [
    'thanks',
    new RegExp(
      `^(?:(?:ok|okay|great|perfect|cool|nice|super|vielen|besten) )?(?:many |a lot of )?(?:thanks|thank you|thank u|thx|ty|cheers|danke|dank|merci|gracias)(?: (?:a lot|so much|very much|again|for (?:the|your) (?:help|answer)|schön|sehr|dir|ihnen))*(?: (?:that|this) (?:was|is) (?:very |really |so )?(?:helpful|useful|great|nice|perfect|all))?${name}$`,
    ),
  ],
  [
    'assent',
    /^(?:ok|okay|k|yes|yeah|yep|no|nope|sure|fine|good|great|perfect|cool|nice|super|wow|right|correct|exactly|got it|i see|i understand|understood|all right|alright|that is (?:all|it|right|great|good|helpful|clear)|thats (?:all|it|right|great|good|helpful|clear)|makes sense|very (?:good|helpful|nice)|well done|good (?:job|answer|to know)|ja|nein|genau|gut|sehr gut|verstanden|alles klar|in ordnung|schon gut)$/,
  ],
  [
    'offer',
    /^(?:can|could|will|would) you (?:please )?help(?: me)?(?: out)?(?: with (?:something|this|that|a question|it))?$|^i (?:need|want|would like)(?: (?:some|your))? help(?: with (?:something|this|it))?$|^(?:i have|may i ask|can i ask)(?: you)? (?:a|some|another) questions?$|^are you there$|^kannst du mir helfen$|^können sie mir helfen$/,
  ],
  [
    'complaint',
    /^(?:no )?(?:you are|youre|thats|that is|this is|it is) (?:wrong|incorrect|not (?:right|true|correct|helpful)|false|stupid|useless|nonsense|bad)$|^(?:wrong|incorrect|nonsense)(?: answer)?$|^(?:i do not|i dont) (?:understand|believe (?:you|that|it))$|^das ist falsch$/,
  ],
  [
    'withdrawal',
    /^(?:(?:sorry|oh|ah|ok|okay|no) )*(?:sorry|never mind|nevermind|forget (?:it|that)|it is nothing|nothing|egal|vergiss es|my (?:bad|mistake)|i apologi[sz]e)$/,
  ],
  ['farewell', new RegExp(`^(?:bye|bye bye|goodbye|good night|see you(?: later| soon)?|farewell)${name}$`)],
  ['well-being', /^(?:how are you(?: doing)?(?: today)?|how is it going|hows it going|what is up|whats up)$/],
  [
    'identity',
    /^(?:who|what) are you$|^(?:what is|whats|tell me) your name$|^are you (?:a |an )?(?:bot|robot|human|person|ai|chatgpt|real|machine|language model)$|^(?:please )?introduce yourself$|^which (?:model|assistant) are you$|^what (?:model|assistant) are you$/,
  ],
  [
    'ability',
    /^what (?:can|could) (?:you|i) (?:do|ask(?: you)?|help(?: me)? with)(?: for me| here)?$|^how (?:can|could|do) you help(?: me)?$|^what do you (?:know|do)(?: about)?$|^what (?:are you able to do|is this|are you for)$|^help(?: me)?$|^(?:which|what) (?:documents|collections) (?:do you (?:know|have)|are there)$|^what are you good at$|^what can be asked$/,
  ],
];

/** The topic of a message that is not a question about documents; undefined for other messages. */
export function smallTalkTopic(message: string): SmallTalkTopic | undefined {
  if (message.length > 100) return undefined;
  const said = plain(message);
  // "Hello, who are you?": the text after the greeting counts.
  const rest = said.replace(
    new RegExp(`^(?:hi|hello|hey|good (?:morning|afternoon|evening))${name} (?=\\S)`),
    '',
  );
  return topicOf(said) ?? (rest === said ? lastTopic(message) : topicOf(rest));
}

/** "Thanks, bye!": the topic of the last part of a message whose parts are all small talk. */
function lastTopic(message: string): SmallTalkTopic | undefined {
  const topics = message
    .split(/[,.;:!?]/)
    .map(plain)
    .filter((part) => part !== '')
    .map(topicOf);
  return topics.every((topic) => topic !== undefined) ? topics.at(-1) : undefined;
}

/** A message in lower case, without punctuation and `please`. */
function plain(message: string): string {
  return message
    .toLowerCase()
    .replaceAll(/['’]/g, '')
    .replaceAll(/\bwhats\b/g, 'what is')
    .replaceAll(/[^\p{L}\p{N}-]+/gu, ' ')
    .replaceAll(/\bplease\b/g, '')
    .trim()
    .replaceAll(/\s+/g, ' ');
}

function topicOf(said: string): SmallTalkTopic | undefined {
  return topics.find(([, pattern]) => pattern.test(said))?.[0];
}
