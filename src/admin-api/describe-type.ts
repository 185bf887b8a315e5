/** Describes the types of arguments as Markdown. */
import { bool, type FieldDescription, int, nonEmptyText, text, type TypeDescription } from '../metadata/codec.ts';
import { printJson } from '../util/json.ts';

/** Types that others refine under the same name: the refinement is described where it is used. */
export const BASE_TYPES: readonly TypeDescription[] = [text, nonEmptyText, bool, int];

/** A row of a table. */
export function row(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

/** Returns whether the type has its own section. */
function isNamed({ name }: TypeDescription): boolean {
  return !name.startsWith('[') && name !== 'HashMap';
}

/** Returns the types of its fields, and those that its description refers to. */
function partTypesOf({ fields = [], about }: TypeDescription): readonly TypeDescription[] {
  return [...fields.map(({ type }) => type), ...(about?.of ?? [])];
}

/**
 * Returns a type where it is used, with a link to its section.
 * @param page file with the sections, relative to the page of the link; empty for the same page
 */
function typeReference(type: TypeDescription, page: string): string {
  const { name, about } = type;
  const [inner] = about?.of ?? [];
  if (!isNamed(type)) {
    if (inner === undefined) return `\`${name}\``;
    return name === 'HashMap' ? `object of ${typeReference(inner, page)}` : `[${typeReference(inner, page)}]`;
  }
  const link = `[${name}](${page}#${name.toLowerCase()})`;
  const base = BASE_TYPES.find((each) => each.name === name);
  const description = about?.description;
  const isOwn = base !== undefined && description !== undefined && description !== base.about?.description;
  return isOwn ? `${link}: ${uncapitalized(description)}` : link;
}

function uncapitalized(sentence: string): string {
  return `${sentence.slice(0, 1).toLowerCase()}${sentence.slice(1)}`.replace(/\.$/, '');
}

/** Returns a row for a key of an object: its names, its type, its default. */
export function fieldRow({ key, aliases, type, required, default: byDefault }: FieldDescription, page: string): string {
  const name = required ? `\`${key}\`` : `_\`${key}\`_`;
  const others = aliases.length === 0 ? '' : ` (or ${aliases.map((alias) => `\`${alias}\``).join(', ')})`;
  return row([name + others, typeReference(type, page), byDefault === undefined ? '' : `\`${printJson(byDefault)}\``]);
}

/** Returns the body of a section; `undefined` if the type has no description. */
export function typeBody(type: TypeDescription): string | undefined {
  const { fields, about } = type;
  const paragraphs: string[] = [];
  if (about?.description !== undefined) paragraphs.push(about.description);
  if (about?.values !== undefined)
    paragraphs.push(
      `One of ${about.values
        .filter((value) => value !== '')
        .map((value) => `\`${value}\``)
        .join(', ')}.`,
    );
  if (fields !== undefined) {
    if (fields.length === 0) paragraphs.push('An object without keys.');
    else paragraphs.push(['| key | type | default |', '|---|---|---|', ...fields.map((field) => fieldRow(field, ''))].join('\n'));
  } else {
    const named = (about?.of ?? []).filter((part) => part.name !== type.name);
    if (named.length > 0) paragraphs.push(`See ${named.map((part) => typeReference(part, '')).join(', ')}.`);
  }
  return paragraphs.length === 0 ? undefined : paragraphs.join('\n\n');
}

/** Returns the types with their own sections that can be reached from some types, including these. */
export function reachableTypes(types: readonly TypeDescription[]): ReadonlySet<TypeDescription> {
  const seen = new Set<TypeDescription>();
  const rest = [...types];
  for (let type = rest.pop(); type !== undefined; type = rest.pop()) {
    if (seen.has(type)) continue;
    seen.add(type);
    rest.push(...partTypesOf(type));
  }
  return new Set([...seen].filter(isNamed));
}
