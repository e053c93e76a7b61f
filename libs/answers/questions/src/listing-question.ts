import { hasWord } from './summary-question.js';

const documents = '(?:documents?|files?|texts?|pages?|papers?|reports?|articles?|sources?|mails?|e-?mails?)';
const dokumente = '(?:dokumente?n?|datei(?:en)?|texte?n?|seiten?|berichte?n?|quellen?|mails?)';
const please = '(?:please |bitte )?(?:(?:can|could) you )?(?:please )?';
const topic = '(.{2,200}?)';
const mention = String.raw`(?:mentions?|cites?|names?|(?:is|are) about|talks? (?:about|of)|speaks? (?:about|of)|deals? with|discuss(?:es)?|covers?|contains?|includes?|describes?|refers? to|say (?:something|anything) about|have (?:something|anything) (?:about|on))`;

/** Questions for the documents that mention something. Each expression matches a whole question. */
const forms = [
  String.raw`(?:which|what|how many)(?: of (?:the|these|my|our))? ${documents}(?: of the collection)? (?:do |does |that |which )?${mention} ${topic}`,
  String.raw`(?:list|show|name|find|give)(?: me)?(?: all| every)?(?: of)?(?: the)? ${documents} (?:that |which )?(?:about|on|${mention}) ${topic}`,
  String.raw`in (?:which|what) ${documents} (?:is|are|was|were|does|do|can) ${topic} (?:mentioned|described|discussed|found|covered|occur|appear|named|be found)`,
  String.raw`where (?:is|are) ${topic} mentioned`,
  String.raw`welche(?:s|n)? ${dokumente} (?:erwähn(?:t|en)|nenn(?:t|en)|behandeln?|enthalten|enthält|beschreib(?:t|en)|handeln? von|sprechen von) ${topic}`,
  String.raw`in welche[nm] ${dokumente} (?:wird|werden|kommt|kommen|steht|stehen|ist|sind) ${topic} (?:erwähnt|genannt|vor|beschrieben|behandelt|etwas)`,
  String.raw`(?:liste|zeige|nenne)(?: mir)?(?: alle)? ${dokumente}(?: auf)?,? (?:zu|über|die) ${topic}(?: erwähnen| nennen)?`,
].map((form) => new RegExp(`^${please}${form}[\\s.?!]*$`, 'iu'));

const edges = /^(?:["'“”„«»‘’\s]|(?:the|an?|der|die|das|den|dem)\s)+|["'“”„«»‘’\s]+$/giu;

/** What the documents have to mention that a question asks for: "Which documents mention the mill?". */
export function mentionedIn(question: string): string | undefined {
  const asked = question.trim().replaceAll(/\s+/g, ' ');
  if (asked.length > 500) return undefined;
  for (const form of forms) {
    const found = form.exec(asked)?.[1]?.replaceAll(edges, '');
    if (found !== undefined && hasWord(found)) return found;
  }
  return undefined;
}
