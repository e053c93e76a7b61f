/** The parts of a schema's issue that say where a value of another type was expected. */
export interface TypeIssue {
  readonly code?: string | undefined;
  readonly expected?: string | undefined;
  /** The allowed values of a literal or an enumeration. */
  readonly values?: readonly unknown[] | undefined;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
  /** The issues of each alternative of a union, with paths relative to the union. */
  readonly errors?: readonly (readonly TypeIssue[])[];
}

type Path = readonly PropertyKey[];

/**
 * Returns the value with the numbers and booleans that its fields hold as texts ("4", "true"), where a schema expects
 * them; undefined where there is no such field. OPEA's services and vLLM read these texts (pydantic's lax mode), so that
 * their clients send them. Elements of lists stay as they are, because a list of texts is not a list of tokens. `inAll`:
 * the issues are those of the first elements of long lists, and the same fields of all their elements are read.
 */
export function readWrittenValues(value: unknown, issues: readonly TypeIssue[], inAll = false): unknown {
  const copies = new Set<unknown>();
  const root = copyOf(value, copies);
  let changed = false;
  const found = issues.flatMap((issue) => expectedTypes(value, issue, []) ?? []);
  for (const { path, type } of inAll ? ofAllElements(value, found) : found) {
    const read = readText(valueAt(value, path), type);
    if (read === undefined) continue;
    changed = true;
    write(root, path, read, copies);
  }
  return changed ? root : undefined;
}

/**
 * Returns the value without its fields that are null and that a schema refuses as such; undefined where there is no such
 * field. Clients in Python and JavaScript send null for "not set". A required field stays an error, since it is missing
 * then. Elements of lists stay. `inAll` is that of {@link readWrittenValues}.
 */
export function withoutNulls(value: unknown, issues: readonly TypeIssue[], inAll = false): unknown {
  const copies = new Set<unknown>();
  const root = copyOf(value, copies);
  const found = issues.flatMap((issue) => nullPaths(value, issue, [])).map((path) => ({ path }));
  for (const { path } of inAll ? ofAllElements(value, found) : found) {
    if (valueAt(value, path) === null) write(root, path, undefined, copies);
  }
  return found.length > 0 ? root : undefined;
}

/** The paths of the null fields that an issue, or an alternative of its union, is about. */
function nullPaths(value: unknown, issue: TypeIssue, parent: Path): Path[] {
  const path = [...parent, ...keysOf(issue)];
  // A check of its own may give null a meaning.
  if (issue.code !== 'custom' && typeof path.at(-1) === 'string' && valueAt(value, path) === null)
    return [path];
  return (issue.errors ?? []).flat().flatMap((inner) => nullPaths(value, inner, path));
}

/** Fields of elements that are looked for in all elements: schemas have fewer. */
const maxFieldsOfElements = 100;

/** The fields, and the fields of the same names in the other elements of their lists. */
function ofAllElements<Field extends { path: Path }>(value: unknown, fields: readonly Field[]): Field[] {
  const named = fields.map((field) => {
    const names = field.path.map((key) => (typeof key === 'number' ? 0 : key));
    return [JSON.stringify(names), field] as const;
  });
  const distinct = [...new Map(named).values()].slice(0, maxFieldsOfElements);
  return distinct.flatMap((field) => pathsLike(value, field.path).map((path) => ({ ...field, path })));
}

/** The paths in a value that differ from one path by the numbers of elements only. */
function pathsLike(value: unknown, path: Path): Path[] {
  const [key, ...rest] = path;
  if (key === undefined) return [[]];
  const keys = typeof key === 'number' && Array.isArray(value) ? [...value.keys()] : [key];
  return keys.flatMap((each) => pathsLike(valueAt(value, [each]), rest).map((inner) => [each, ...inner]));
}

interface ExpectedType {
  readonly path: Path;
  readonly type: 'number' | 'boolean';
}

/**
 * The expected types of an issue's fields; undefined if reading texts does not solve the issue. Of a union it is the first
 * alternative that fails by such texts only.
 */
function expectedTypes(value: unknown, issue: TypeIssue, parent: Path): ExpectedType[] | undefined {
  const path = [...parent, ...keysOf(issue)];
  if (issue.errors) {
    for (const alternative of issue.errors) {
      const types = alternative.map((inner) => expectedTypes(value, inner, path));
      if (types.length > 0 && types.every((found) => found !== undefined)) return types.flat();
    }
    return undefined;
  }
  const type = typeOf(issue);
  if (type === undefined || typeof path.at(-1) !== 'string') return undefined;
  return readText(valueAt(value, path), type) === undefined ? undefined : [{ path, type }];
}

function keysOf({ path = [] }: TypeIssue): Path {
  return path.map((part) => (typeof part === 'object' ? part.key : part));
}

function typeOf({ code, expected, values = [] }: TypeIssue): ExpectedType['type'] | undefined {
  if (code === 'invalid_type') {
    if (expected === 'number' || expected === 'int') return 'number';
    return expected === 'boolean' ? 'boolean' : undefined;
  }
  if (code !== 'invalid_value') return undefined;
  return (['number', 'boolean'] as const).find((type) => values.some((value) => typeof value === type));
}

const trueWords = new Set(['true', 't', 'yes', 'y', 'on', '1']);
const falseWords = new Set(['false', 'f', 'no', 'n', 'off', '0']);

/** The number or boolean of a text, also of 0 and 1 for a boolean; undefined for everything else. */
function readText(value: unknown, type: ExpectedType['type']): number | boolean | undefined {
  const isBit = type === 'boolean' && (value === 0 || value === 1);
  if (typeof value !== 'string' && !isBit) return undefined;
  const text = String(value).trim().toLowerCase();
  if (type === 'boolean') return trueWords.has(text) || (falseWords.has(text) ? false : undefined);
  // `Number` reads hexadecimal digits and an empty text too.
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/.test(text) ? Number(text) : undefined;
}

function valueAt(value: unknown, path: Path): unknown {
  let found = value;
  for (const key of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key)) return undefined;
    found = (found as Record<PropertyKey, unknown>)[key];
  }
  return found;
}

/** Writes into copies of the objects on the path: the caller's value stays as it is. */
function write(root: unknown, path: Path, value: unknown, copies: Set<unknown>): void {
  let parent = root as Record<PropertyKey, unknown>;
  for (const key of path.slice(0, -1)) {
    parent[key] = copyOf(parent[key], copies);
    parent = parent[key] as Record<PropertyKey, unknown>;
  }
  parent[path.at(-1)!] = value;
}

/** A shallow copy; an object that is a copy already stays, so that each object is copied once. */
function copyOf(value: unknown, copies: Set<unknown>): unknown {
  if (typeof value !== 'object' || value === null || copies.has(value)) return value;
  const copy: unknown = Array.isArray(value) ? [...(value as unknown[])] : { ...value };
  copies.add(copy);
  return copy;
}
