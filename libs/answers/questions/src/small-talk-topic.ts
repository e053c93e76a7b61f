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
  | 'withdrawal'
  /** A wish for what neither documents nor a conversation about them give: a joke, the weather. */
  | 'beyond';

const name = String.raw`(?:\s+(?:there|all|everyone|everybody|again|assistant|bot|meganest|nano-chat|friend|mate|sir|madam|team|zusammen|dir|ihnen|euch|leute))*`;
const languages =
  '(?:english|german|french|spanish|italian|dutch|portuguese|polish|chinese|japanese|russian|turkish|other languages|my language|deutsch|englisch|französisch|spanisch)';

/** Patterns for whole messages, without punctuation, apostrophes and `please`; the forms of each topic in two languages. */
const forms: readonly (readonly [SmallTalkTopic, readonly string[]])[] = [
  [
    'greeting',
    [
      `(?:hi|hello|hey|hiya|howdy|yo|greetings|welcome|good (?:morning|afternoon|evening|day))${name}`,
      `(?:hallo|hallihallo|moin|servus|grüezi|grüß (?:gott|dich)|guten (?:tag|morgen|abend|nachmittag))${name}`,
      '(?:nice|pleased|good) to meet you',
      '(?:this is a |just a )?test(?:ing)?|ping|anyone there|is (?:anyone|anybody|somebody|someone) (?:there|here)',
    ],
  ],
  [
    'thanks',
    [
      `(?:(?:ok|okay|great|perfect|cool|nice|super|vielen|besten|herzlichen) )?(?:many |a lot of )?(?:thanks|thank you|thank u|thx|ty|cheers|danke|dank|merci|gracias)(?: (?:a lot|a bunch|a million|so much|very much|again|mate|for (?:the|your) (?:help|answer|answers|reply|information)|für (?:die|deine|ihre) (?:hilfe|antwort)|schön|sehr|dir|ihnen))*(?: (?:that|this|das) (?:was|is|war|ist) (?:very |really |so |sehr )?(?:helpful|useful|great|nice|perfect|all|hilfreich|nett|gut))?${name}`,
      '(?:(?:that|this|it|you) )?(?:really |very much |has |have )?(?:helped|was (?:very |really )?(?:helpful|useful)|been (?:very )?helpful)(?: (?:me|a lot))*',
      '(?:i )?(?:really )?appreciate (?:it|that|your help)|much appreciated',
      'das (?:hat (?:mir )?(?:sehr )?geholfen|war (?:sehr )?hilfreich)',
    ],
  ],
  [
    'assent',
    [
      '(?:ok|okay|k|yes|yeah|yep|no|nope|sure|fine|good|great|perfect|cool|nice|super|wow|right|correct|exactly|got it|i see|i understand|understood|all right|alright)',
      '(?:that is|thats) (?:all|it|right|great|good|helpful|clear|interesting|fine|enough|cool|nice)(?: for now)?',
      '(?:makes sense|very (?:good|helpful|nice|interesting)|well done|good (?:job|answer|to know|one)|nice one|interesting|not bad|impressive|awesome|amazing|excellent)',
      '(?:h+m+|m+h+m*|u+h+|a+h+a*|o+h+|lol|haha(?:ha)*|hehe|rofl|whatever|never)',
      '(?:ja|nein|doch|genau|gut|sehr gut|prima|toll|verstanden|alles klar|in ordnung|schon gut|aha|interessant|passt)',
    ],
  ],
  [
    'offer',
    [
      '(?:can|could|will|would) you (?:please )?help(?: me)?(?: out)?(?: with (?:something|this|that|a question|it|my questions?))?',
      'i (?:need|want|would like)(?: (?:some|your))? help(?: with (?:something|this|it))?',
      '(?:i have|may i ask|can i ask|i would like to ask|i want to ask)(?: you)? (?:a|some|another|something|a few) ?(?:questions?)?',
      'are you (?:there|ready|awake|online|working)',
      '(?:kannst du|können sie) mir (?:mal )?(?:bitte )?helfen|ich (?:habe (?:eine|mal eine|ein paar) fragen?|brauche (?:deine |ihre )?hilfe)',
    ],
  ],
  [
    'complaint',
    [
      '(?:no )?(?:you are|youre|thats|that is|this is|it is|that was) (?:wrong|incorrect|not (?:right|true|correct|helpful|good|it|quite right|what i (?:asked|meant|wanted|was looking for|need)(?: for)?)|false|stupid|useless|nonsense|bad|a bad answer)',
      '(?:not|this is not|thats not) (?:what i (?:asked|meant|wanted)(?: for)?|helpful|true)|(?:wrong|incorrect|nonsense|useless|rubbish)(?: answer)?',
      '(?:i do not|i dont) (?:understand|believe (?:you|that|it)|get it|think so|agree|like (?:it|that|this))',
      '(?:that|this|it|you) (?:does not|doesnt|did not|didnt|do not|dont) (?:answer (?:my|the) question|help(?: me)?|make sense|understand(?: me| my question)?|work)',
      'das ist (?:falsch|nicht richtig|nicht das was ich (?:gefragt|gemeint) habe|unsinn|quatsch)|(?:du liegst|sie liegen) falsch|falsch',
    ],
  ],
  [
    'withdrawal',
    [
      '(?:(?:sorry|oh|ah|ok|okay|no) )*(?:sorry|never mind|nevermind|forget (?:it|that)|it is nothing|nothing|(?:my (?:bad|mistake))|i apologi[sz]e|cancel|stop)',
      'egal|vergiss es|tut mir leid|entschuldigung|schon gut|nichts',
    ],
  ],
  [
    'farewell',
    [
      `(?:bye|bye bye|goodbye|good night|see you(?: later| soon| tomorrow)?|see ya|farewell|so long|take care|until (?:next time|tomorrow)|cu)${name}`,
      'have a (?:nice|good|great) (?:day|evening|weekend|night|one)',
      `(?:tschüs+|ciao|auf wiedersehen|bis (?:später|bald|dann|morgen)|gute nacht|mach(?:s| es) gut|schönen (?:tag|abend)(?: noch)?|schönes wochenende)${name}`,
    ],
  ],
  [
    'well-being',
    [
      '(?:how are you(?: doing)?(?: today)?|how is it going|hows it going|how are things|how do you (?:do|feel)(?: today)?|what is up|whats up|you (?:ok|okay|alright)|are you (?:ok|okay|well|happy|sad|tired))',
      'wie geht(?: es| s|s)?(?: dir| ihnen)?(?: heute)?|was geht(?: ab)?',
    ],
  ],
  [
    'identity',
    [
      '(?:who|what)(?: exactly)? are you|(?:what is|whats|tell me) your (?:name|purpose|job)|what should i call you',
      'are you (?:a |an )?(?:bot|robot|human|person|ai|chatbot|chatgpt|gpt|real|machine|program|language model|llm|computer|alive|sentient|conscious)(?: or (?:a |an )?(?:bot|robot|human|person|ai|machine|program))?',
      '(?:introduce yourself|tell me (?:something )?about yourself|describe yourself)',
      '(?:which|what) (?:kind of |language )?(?:model|assistant|ai|bot) (?:are you|do you use|is this)',
      'who (?:made|built|created|developed|designed|programmed|trained|wrote|owns|invented) you|(?:where|when) (?:were you (?:made|built|born|created|trained)|do you come from|are you from)|how old are you',
      'do you have (?:feelings|a name|emotions|a soul|a body)|do you (?:sleep|eat|dream|think|feel)',
      '(?:wer|was) (?:bist du|sind sie)|wie (?:heißt du|heißen sie|ist (?:dein|ihr) name)|(?:bist du|sind sie) (?:ein(?:e)? )?(?:bot|roboter|mensch|maschine|ki|programm|chatbot)|wer hat dich (?:gemacht|gebaut|programmiert|entwickelt)|stell dich vor',
    ],
  ],
  [
    'ability',
    [
      'what (?:else |all |more )?(?:can|could) (?:you|i) (?:do|ask(?: you)?|help(?: me)? with|tell me|answer)(?: for me| here| with you)?',
      'how (?:can|could|do) you help(?: me)?|how (?:do you|does (?:this|it)) work|how (?:do|can|should) i use (?:you|this)',
      'what (?:else )?do you (?:know|do)(?: about)?|what are you able to do|what is this|what are you (?:for|good at|capable of)|what can be asked|what are your (?:skills|abilities|features|limits|limitations)|help(?: me)?',
      '(?:which|what) (?:documents|collections|files) (?:do you (?:know|have)|are there)',
      `(?:(?:can|could|do) you|are you able to) (?:also )?(?:speak|understand|talk|answer in|reply in|write in|read)(?: in)? ${languages}|(?:which|what) languages (?:do you|can you|are) (?:speak|understand|know|supported)|(?:sprichst|verstehst|kannst) du (?:auch )?${languages}|sprechen sie ${languages}`,
      'was (?:kannst du|können sie)(?: (?:alles|noch|so))*(?: (?:für mich )?tun)?|wobei (?:kannst du|können sie)(?: mir)? helfen|wie (?:funktionierst du|funktioniert das)|was kann ich (?:dich |sie )?fragen|hilfe',
    ],
  ],
  [
    'beyond',
    [
      '(?:can you |could you )?(?:tell|give|say)(?: me)? (?:a |an |another |some )?(?:jokes?|riddles?|something (?:funny|nice|interesting)|fun facts?|story|bedtime story)',
      '(?:can you |could you )?(?:sing|dance|play)(?: me| for me)?(?: (?:a |some )?(?:song|music|game))?|make me laugh|entertain me|i am bored|im bored|do something',
      '(?:what is|whats|how is) the (?:weather|temperature|time|date)(?: like)?(?: (?:today|now|tomorrow|outside|right now|here))*|what time is it(?: now)?|what day is (?:it|today)|will it rain (?:today|tomorrow)',
      '(?:do you (?:like|love) me|i (?:love|hate|like) you|will you marry me)',
      'erzähl(?:e)?(?: mir)?(?: (?:mal|bitte))* (?:einen |noch einen )?(?:witz|etwas lustiges)|wie (?:wird|ist) das wetter(?: (?:heute|morgen))?|wie spät ist es|mir ist langweilig',
    ],
  ],
];
const topics = forms.map(([topic, all]) => [topic, new RegExp(`^(?:${all.join('|')})$`, 'u')] as const);

/** The topic of a message that is not a question about documents; undefined for other messages. */
export function smallTalkTopic(message: string): SmallTalkTopic | undefined {
  if (message.length > 100) return undefined;
  const said = plain(message);
  if (said === '') return /\p{Extended_Pictographic}/u.test(message) ? 'assent' : undefined;
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
