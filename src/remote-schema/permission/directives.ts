/**
 * Directives in the SDL of a role. `@preset` is ours and is allowed on inputs only. Of the server's own directives, introspection reports
 * `@deprecated` and `@specifiedBy`: these may be repeated unchanged.
 */
import { type ConstDirectiveNode, type ConstValueNode, Kind, print } from 'graphql';
import { enumerateQuoted } from '../../util/enumerate.ts';
import type { Reasons } from './reasons.ts';

/** The definition that has a directive. */
export interface DirectiveTarget {
  /** E.g. `Object`, `Argument`. */
  readonly label: string;
  readonly name: string;
  /** Values of the server's directives; `undefined` if it has none. */
  readonly deprecation?: string | null;
  readonly specifiedByUrl?: string | null;
}

interface WithDirectives {
  readonly directives?: readonly ConstDirectiveNode[] | undefined;
}

const PRESET = 'preset';
const DEFAULT_DEPRECATION = 'No longer supported';

/** Checks the directives of a definition that cannot be preset. */
export function refuseDirectives(node: WithDirectives, target: DirectiveTarget, reasons: Reasons): void {
  for (const { name } of node.directives ?? []) {
    if (name.value === PRESET) {
      reasons.add('Preset directives can be defined only on INPUT_FIELD_DEFINITION or ARGUMENT_DEFINITION');
      break;
    }
  }
  checkUpstream(node, target, reasons);
}

/** Returns the `@preset` directive of an argument or an input field, `null` if there is none. */
export function presetDirective(node: WithDirectives, target: DirectiveTarget, reasons: Reasons): ConstDirectiveNode | null {
  checkUpstream(node, target, reasons);
  const presets = (node.directives ?? []).filter(({ name }) => name.value === PRESET);
  if (presets.length > 1) reasons.add(`found multiple preset directives at "${target.label}" "${target.name}"`);
  return presets[0] ?? null;
}

function checkUpstream({ directives = [] }: WithDirectives, target: DirectiveTarget, reasons: Reasons): void {
  const seen = new Set<string>();
  const twice = new Set<string>();
  for (const directive of directives) {
    const name = directive.name.value;
    if (name === PRESET) continue;
    if (seen.has(name)) twice.add(name);
    else checkOne(directive, target, reasons);
    seen.add(name);
  }
  if (twice.size > 0) reasons.add(`duplicate directives: ${enumerateQuoted(twice)}found in the "${target.label}" "${target.name}"`);
}

function checkOne({ name: { value: name }, arguments: args = [] }: ConstDirectiveNode, target: DirectiveTarget, reasons: Reasons): void {
  const upstream = upstreamArguments(name, target);
  if (upstream === null) {
    reasons.add(`"Directive": "${name}" does not exist in the upstream remote schema`);
    return;
  }
  const at = `the following directive argument(s) defined in the directive: "${name}" at the "${target.label}" "${target.name}"`;
  const unknown = args.filter((argument) => !upstream.has(argument.name.value)).map((argument) => argument.name.value);
  if (unknown.length > 0) reasons.add(`${at} do not exist in the corresponding upstream directive: ${enumerateQuoted(unknown)}`);
  const written = new Map(args.map((argument) => [argument.name.value, textOf(argument.value)]));
  const other = [...upstream].filter(([argument, { text, byDefault }]) => (written.get(argument) ?? byDefault) !== text);
  if (other.length > 0) {
    reasons.add(
      `${at} do not match those of the corresponding upstream directive: ${enumerateQuoted(other.map(([argument]) => argument))}`,
    );
  }
}

function upstreamArguments(name: string, { deprecation, specifiedByUrl }: DirectiveTarget) {
  if (name === 'deprecated' && typeof deprecation === 'string') {
    return new Map([['reason', { text: deprecation, byDefault: DEFAULT_DEPRECATION }]]);
  }
  if (name === 'specifiedBy' && typeof specifiedByUrl === 'string') return new Map([['url', { text: specifiedByUrl, byDefault: '' }]]);
  return null;
}

function textOf(value: ConstValueNode): string {
  return value.kind === Kind.STRING ? value.value : print(value);
}
