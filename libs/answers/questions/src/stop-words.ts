/** Stop words: a follow-up question cannot be about them. */
export const stopWords = new Set(
  (
    'a an the of in on at to for by with from and or but is was are were be been being do does did done can could will would ' +
    'shall should may might must have has had what which who whom whose when where why how many much not no yes it its he ' +
    'him his she her they them their this that these those there here then than so as if about into over under out up down ' +
    'i you we me us my your our mine yours please tell give show explain know find name list also any some all more most ' +
    'other such only just very get got make made use used using while during after before when since until'
  ).split(' '),
);
/** The same in German. */
export const germanStopWords = new Set(
  (
    'der die das den dem des ein eine einen einem einer eines er sie es ihn ihm ihr ihnen wir ich du man mir mich uns ist sind war ' +
    'waren wird werden kann können soll muss müssen darf dürfen hat haben hatte was wer wen wem wann wo warum wieso wie welche welcher ' +
    'welches welchen viel viele oft lange und oder aber nicht auch nur noch für von vom mit ohne auf an am bei zu zum zur im in aus nach ' +
    'vor um ab bis seit über unter denn dann dort dessen deren dieser diese dieses diesen davon dafür damit dabei dazu darin darauf ' +
    'darüber ja nein bitte gibt'
  ).split(' '),
);
