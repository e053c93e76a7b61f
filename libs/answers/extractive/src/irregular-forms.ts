/**
 * Irregular English forms of words with a meaning of their own, a base and then its other forms: not `take`, `give` and the
 * like.
 */
const forms = `
begin began begun|bite bit bitten|blow blew blown|break broke broken|bring brought|build built|buy bought
catch caught|choose chose chosen|deal dealt|dig dug|draw drew drawn|drink drank drunk|drive drove driven
eat ate eaten|fall fell fallen|feed fed|feel felt|fight fought|fly flew flown|forbid forbade forbidden
forget forgot forgotten|freeze froze frozen|grow grew grown|hear heard|hide hid hidden|hold held|keep kept
lay laid|lead led|lend lent|lose lost|meet met|pay paid|ride rode ridden|ring rang rung|rise rose risen
seek sought|sell sold|send sent|shake shook shaken|shine shone|shoot shot|shrink shrank shrunk|sing sang sung
sink sank sunk|sit sat|sleep slept|speak spoke spoken|spend spent|stand stood|steal stole stolen|stick stuck
strike struck|swear swore sworn|sweep swept|swim swam swum|teach taught|throw threw thrown
understand understood|wake woke woken|wear wore worn|weave wove woven|win won|withdraw withdrew withdrawn
write wrote written|child children|foot feet|tooth teeth|mouse mice|goose geese|person people|knife knives
shelf shelves|wife wives|half halves|wolf wolves`;

const bases = new Map(
  forms
    .split(/[|\n]/)
    .map((line) => line.trim().split(' '))
    .flatMap(([base = '', ...others]) => others.map((form) => [form, base] as const)),
);

/** The base of an irregular English form, as `lay` of `laid`; any other word itself. */
export function baseForm(word: string): string {
  return bases.get(word.toLowerCase()) ?? word;
}
