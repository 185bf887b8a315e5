/** The schema of a role as a document of type definitions, for federation and for people. Printed cooperatively. */
import { SCHEMA } from './introspection/meta-types.ts';
import { printDefault } from './introspection/default-value.ts';
import { type YieldTimer, startYieldTimer } from './introspection/yield-timer.ts';
import { createTypeWalk, sortByName } from './introspection/type-walk.ts';
import { type InputField, type NamedType, type OutputField, printType, type RootTypes } from './types.ts';

export interface SdlOptions {
  /** Fields of the query root to omit, such as `_service`. */
  readonly withoutQueryFields?: ReadonlySet<string>;
  readonly withoutTypes?: ReadonlySet<string>;
  /** Returns the text after a type's name, such as ` @key(fields: "id")`. */
  readonly typeDirectives?: (type: NamedType) => string;
  /** Called after every pause; an error that it throws ends the work. */
  readonly onResume?: () => void;
}

const STANDARD_SCALARS = new Set(['Int', 'Float', 'String', 'Boolean', 'ID']);

/** Prints types and their fields sorted by name, without introspection types and standard scalars. */
export async function printRoleSchema(roots: RootTypes, options: SdlOptions = {}): Promise<string> {
  const timer = startYieldTimer(options.onResume);
  const parts = [printRoots(roots)];
  for (const type of await createTypeWalk(roots, [SCHEMA]).all(timer)) {
    if (isBuiltIn(type)) continue;
    if (options.withoutTypes?.has(type.name) === true) continue;
    parts.push(
      await printNamedType(
        type,
        type === roots.query ? (options.withoutQueryFields ?? new Set()) : new Set(),
        options.typeDirectives?.(type) ?? '',
        timer,
      ),
    );
    if (timer.due()) await timer.yield();
  }
  return `${parts.join('\n\n')}\n`;
}

/** Prints the `schema` definition. */
export function printRoots(roots: RootTypes): string {
  const lines = [`  query: ${roots.query.name}`];
  if (roots.mutation !== null) lines.push(`  mutation: ${roots.mutation.name}`);
  if (roots.subscription !== null) lines.push(`  subscription: ${roots.subscription.name}`);
  return `schema {\n${lines.join('\n')}\n}`;
}

/** Returns true for types whose definitions documents omit, because every server has them. */
export function isBuiltIn({ name, kind }: NamedType): boolean {
  return name.startsWith('__') || (kind === 'scalar' && STANDARD_SCALARS.has(name));
}

/** Prints the definition of one type. */
export async function printNamedType(
  type: NamedType,
  without: ReadonlySet<string>,
  directives: string,
  timer: YieldTimer,
): Promise<string> {
  const head = printDescription(type.description, '');
  switch (type.kind) {
    case 'scalar':
      return `${head}scalar ${type.name}${directives}`;
    case 'union':
      return `${head}union ${type.name}${directives} = ${sortByName(type.members())
        .map((member) => member.name)
        .join(' | ')}`;
    case 'enum': {
      const values = sortByName(type.values().values()).map((value) => `${printDescription(value.description, '  ')}  ${value.name}\n`);
      return `${head}enum ${type.name}${directives} {\n${values.join('')}}`;
    }
    case 'input-object': {
      const fields = await printAll(
        sortByName(type.fields().values()),
        (field) => `${printDescription(field.description, '  ')}  ${printInputField(field)}\n`,
        timer,
      );
      return `${head}input ${type.name}${directives} {\n${fields.join('')}}`;
    }
    case 'interface':
    case 'object': {
      const shown = sortByName(type.fields().values()).filter((field) => !without.has(field.name));
      const fields = await printAll(shown, printOutputField, timer);
      const implemented = sortByName(type.interfaces?.() ?? []).map(({ name }) => name);
      const keyword = type.kind === 'object' ? 'type' : 'interface';
      const implementing = implemented.length === 0 ? '' : ` implements ${implemented.join(' & ')}`;
      return `${head}${keyword} ${type.name}${implementing}${directives} {\n${fields.join('')}}`;
    }
  }
}

async function printAll<T>(items: readonly T[], print: (item: T) => string, timer: YieldTimer): Promise<string[]> {
  const printed: string[] = [];
  for (const item of items) {
    printed.push(print(item));
    if (printed.length % 16 === 0 && timer.due()) await timer.yield();
  }
  return printed;
}

function printOutputField(field: OutputField): string {
  const args = sortByName(field.args.values());
  return `${printDescription(field.description, '  ')}  ${field.name}${printArguments(args)}: ${printType(field.type)}\n`;
}

function printArguments(args: readonly InputField[]): string {
  if (args.length === 0) return '';
  if (args.every((arg) => arg.description === null)) return `(${args.map(printInputField).join(', ')})`;
  return `(\n${args.map((arg) => `${printDescription(arg.description, '    ')}    ${printInputField(arg)}\n`).join('')}  )`;
}

function printInputField(field: InputField): string {
  return `${field.name}: ${printType(field.type)}${field.default === undefined ? '' : ` = ${printDefault(field.default, field.type)}`}`;
}

/** Prints a one-line string, which can represent every text. */
function printDescription(description: string | null, indent: string): string {
  return description === null ? '' : `${indent}${JSON.stringify(description)}\n`;
}
