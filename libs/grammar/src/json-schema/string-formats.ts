const hour = '([01][0-9]|2[0-3])';
const sixty = '[0-5][0-9]';
const leapYear = '([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)';
const date = `([0-9]{4}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))|${leapYear}-02-29)`;
const time = `${hour}:${sixty}:${sixty}(\\.[0-9]{1,9})?(Z|[+-]${hour}:${sixty})`;
const shortLabel = '[A-Za-z0-9]([A-Za-z0-9-]{0,14}[A-Za-z0-9])?';
const label = '[A-Za-z0-9]+(-[A-Za-z0-9]+)*';
const byte = '(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])';
const group = '[0-9a-fA-F]{1,4}';
const pathCharacter = "([A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})";
const days = '[0-9]{1,6}';

/**
 * The formats that are honoured, as expressions for the whole string. Each takes only strings that the format takes;
 * some leave rare forms out (leap seconds, IPv6 with an IPv4 tail, quoted mailboxes).
 */
export const stringFormats: Readonly<Record<string, string>> = {
  date,
  time,
  'date-time': `${date}T${time}`,
  duration: `P(${days}W|(${days}Y(${days}M(${days}D)?)?|${days}M(${days}D)?|${days}D)(T(${days}H(${days}M(${days}S)?)?|${days}M(${days}S)?|${days}S))?|T(${days}H(${days}M(${days}S)?)?|${days}M(${days}S)?|${days}S))`,
  email: `[A-Za-z0-9_+-]+(\\.[A-Za-z0-9_+-]+)*@${label}(\\.${label})+`,
  hostname: `${shortLabel}(\\.${shortLabel}){0,3}`,
  ipv4: `${byte}(\\.${byte}){3}`,
  ipv6: `(${group}:){7}${group}|(${group}:){1,6}:${group}|::(${group}:){0,5}${group}|::`,
  uri: `[A-Za-z][A-Za-z0-9+.-]*://${label}(\\.${label})*(:[0-9]{1,5})?(/${pathCharacter}*)*(\\?(${pathCharacter}|[/?])*)?(#(${pathCharacter}|[/?])*)?`,
  uuid: '[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}',
};
